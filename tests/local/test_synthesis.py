import importlib.util
import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stackroom_local import project_files, synthesis
from stackroom_local.local_errors import CdkMissing, SynthesisFailed

pytestmark = pytest.mark.processes


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose app writes an assembly of one file, and counts its runs."""
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "app.py").write_text(
        "import os, pathlib, sys\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('--outdir') + 1])\n"
        "out.mkdir(parents=True)\n"
        "(out / 'manifest.json').write_text(os.environ['CDK_CONTEXT_JSON'])\n"
        "with open('runs', 'a') as runs:\n"
        "    runs.write('x')\n"
    )
    for name in ("cdk.json", "requirements.lock"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "statemachines").mkdir()
    monkeypatch.setattr(project_files, "ROOT", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _name: "/usr/bin/node")
    return tmp_path


def test_concurrent_starts_synthesise_once_and_later_ones_need_no_node(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: synthesis.assembly(), range(2))

    monkeypatch.setattr(shutil, "which", lambda _name: None)

    assert first == second == synthesis.assembly()
    assert (first / "manifest.json").exists()
    assert (checkout / "runs").read_text() == "x"


def test_changed_sources_are_synthesised_again(checkout: Path) -> None:
    first = synthesis.assembly()

    (checkout / "statemachines" / "ingest.asl.json").write_text("{}")

    assert not synthesis.is_cached()
    assert synthesis.assembly() != first


def test_changed_constructs_are_synthesised_again(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constructs = checkout / "src" / "stackroom_constructs"
    constructs.mkdir(parents=True)
    (constructs / "bedrock_model.py").write_text("PROFILES = ()")
    monkeypatch.setattr(synthesis, "_CONSTRUCTS", constructs)
    first = synthesis.assembly()

    (constructs / "bedrock_model.py").write_text('PROFILES = ("ca",)')

    assert not synthesis.is_cached()
    assert synthesis.assembly() != first


def test_a_changed_file_that_the_context_names_is_read_again(checkout: Path) -> None:
    named = {"shared_knowledge_bases_file": "shared.json"}
    (checkout / "shared.json").write_text("[]")
    first = synthesis.assembly(named)

    (checkout / "shared.json").write_text('[{"name": "Laws"}]')

    assert not synthesis.is_cached(named)
    assert synthesis.assembly(named) != first


def test_another_context_is_another_assembly_that_is_kept_beside_the_first(checkout: Path) -> None:
    _, sharing = synthesis.assembly(), synthesis.assembly({"retrieve_sharing": "on"})

    assert (sharing / "manifest.json").read_text() == '{"retrieve_sharing": "on"}'
    assert synthesis.is_cached()
    assert synthesis.is_cached({"retrieve_sharing": "on"})
    assert not synthesis.is_cached({"retrieve_sharing": "off"})


def test_failing_app_is_reported_with_the_end_of_its_output(checkout: Path) -> None:
    (checkout / "infra" / "app.py").write_text("raise SystemExit('no such construct')")

    with pytest.raises(SynthesisFailed, match="no such construct"):
        synthesis.assembly()


def test_shipped_templates_serve_a_checkout_until_its_sources_change(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    templates = checkout / "templates" / "default"
    templates.mkdir(parents=True)
    (templates / "manifest.json").write_text("{}")
    (templates / "fingerprint").write_text(synthesis.fingerprint({}))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    assert synthesis.is_cached()
    assert synthesis.assembly() == templates

    (checkout / "statemachines" / "ingest.asl.json").write_text("{}")

    assert not synthesis.is_cached()
    with pytest.raises(CdkMissing, match=r"a change of infra/ needs .* `make setup`"):
        synthesis.assembly()


@pytest.fixture
def wheel(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same in a wheel, with templates, and without the CDK and Node."""
    monkeypatch.setattr(project_files, "IS_CHECKOUT", False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / "cache"))
    for name in ("default", "retrieve_sharing=on"):
        (checkout / "templates" / name).mkdir(parents=True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    return checkout


def test_a_wheel_has_the_templates_for_the_options_of_up(wheel: Path) -> None:
    assert synthesis.is_cached()
    assert synthesis.assembly() == wheel / "templates" / "default"
    assert (
        synthesis.assembly({"retrieve_sharing": "on"})
        == wheel / "templates" / "retrieve_sharing=on"
    )


def test_another_context_needs_the_cdk_and_says_which_and_how(wheel: Path) -> None:
    with pytest.raises(CdkMissing, match=r"-c redis_url=a/b needs .* pipx install .*\[infra\]"):
        synthesis.assembly({"redis_url": "a/b"})


def test_old_assemblies_are_forgotten_and_recently_used_ones_are_kept(checkout: Path) -> None:
    cache = checkout / ".cache" / "synth"
    for number in range(12):
        (cache / f"day-old-{number}").mkdir(parents=True)
        (cache / f"recent-{number}").mkdir()
        yesterday = time.time() - 25 * 3600 - number
        os.utime(cache / f"day-old-{number}", (yesterday, yesterday))

    made = synthesis.assembly()

    left = {path.name for path in cache.iterdir()}
    assert left == {made.name, *(f"recent-{number}" for number in range(12))}
