"""Which packages a function's zip takes: what the project states, by the pins that it ships."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from stackroom_constructs.bundling import source_of
from stackroom_constructs.packages import install, prune, requirements, shipped

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_a_zip_takes_what_every_function_imports_and_the_extras_that_are_named() -> None:
    stated = PROJECT["project"]["optional-dependencies"]

    assert sorted(requirements(())) == sorted(stated["functions"])
    assert sorted(requirements(("agents",))) == sorted(stated["functions"] + stated["agents"])
    # With extras of its own.
    assert "pyjwt[crypto]>=2.10" in requirements(("identity",))


def test_the_lock_is_shipped_with_the_wheel_to_where_it_is_looked_for() -> None:
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert shipped("requirements.lock") == ROOT / "requirements.lock"
    assert included == {"requirements.lock": "stackroom_constructs/requirements.lock"}


@pytest.mark.parametrize("package", ["stackroom", "stackroom_agents", "stackroom_constructs"])
def test_the_types_of_what_anyone_imports_are_told(package: str) -> None:
    assert (source_of(package) / "py.typed").is_file()


def test_packages_that_contradict_the_project_are_refused_in_the_words_of_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    target = tmp_path / "zip"
    target.mkdir()

    with pytest.raises(RuntimeError, match="you require pydantic<2"):
        install(target, packages=["pydantic<2"], machine="arm64")

    assert list(tmp_path.iterdir()) == [target]


def test_what_opensearch_py_never_imports_is_left_out_and_nobody_elses(tmp_path: Path) -> None:
    with_client, without = tmp_path / "with", tmp_path / "without"
    for target in (with_client, without):
        (target / "botocore" / "data" / "sts").mkdir(parents=True)
        (target / "grpc").mkdir()
    (with_client / "opensearchpy").mkdir()

    prune(with_client, {"sts"})
    prune(without, {"sts"})

    assert (with_client / "opensearchpy").is_dir()
    assert not (with_client / "grpc").exists()
    assert (without / "grpc").is_dir()


def test_opensearch_py_speaks_http_without_grpc() -> None:
    told = (
        "import sys; sys.modules['grpc'] = None; import opensearchpy; print(opensearchpy.VERSION)"
    )

    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
