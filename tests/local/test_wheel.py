"""The wheel: all that it takes to serve, on a machine without the checkout, make and Node."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from stackroom_local import project_files
from stackroom_local.processes import free_ports

ROOT = Path(__file__).parents[2]
SHIPPED = "stackroom_local/shipped"
# What a shell script, a venv and the launcher of a command call; node is not among them.
TOOLS = ("cat", "dirname", "env", "mkdir", "mktemp", "realpath", "rm", "sh", "sleep", "uname")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv = [str(Path(sys.executable).with_name("uv")), "build", "--wheel", "--no-build-isolation"]
    subprocess.run(
        [*uv, "--offline", "--python", sys.executable, "--out-dir", str(folder)],
        cwd=ROOT,
        check=True,
    )
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture
def bare_machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has Python and uv, and nothing of ours."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None, name
        (tools / name).symlink_to(found)
    (tools / "uv").symlink_to(Path(sys.executable).with_name("uv"))
    return {
        "PATH": str(tools),
        "HOME": os.environ["HOME"],
        "TMPDIR": str(tmp_path),
        "UV_PYTHON": os.path.realpath(sys.executable),
        # The releases that the checkout has, so that uv finds them in its cache.
        "UV_CONSTRAINT": str(ROOT / "requirements.lock"),
        **{name: value for name, value in os.environ.items() if name.startswith("UV_CACHE")},
    }


@pytest.mark.processes
def test_quickstart_leads_from_a_bare_machine_to_an_answer(
    wheel: Path, bare_machine: dict[str, str], tmp_path: Path
) -> None:
    assert shutil.which("node", path=bare_machine["PATH"]) is None
    # What lies about in the folder of somebody who starts us is no module of ours.
    (tmp_path / "numpy.py").write_text("raise SystemExit('shadowed')")
    script = ROOT / "examples" / "newcomer.sh"
    environment = {**bare_machine, "PORT": str(free_ports(4))}

    run = _newcomer(script, wheel, {**environment, "UV_OFFLINE": "1"}, tmp_path)
    if "No solution found" in run.stderr or "Network connectivity is disabled" in run.stderr:
        run = _newcomer(script, wheel, {**os.environ, **environment}, tmp_path)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "boathouse.txt" in run.stdout
    assert "opens at half past six" in run.stdout
    assert re.search(
        r"the console at http://127\.0\.0\.1:[0-9]+/ loads [0-9]{1,2} files", run.stdout
    )
    assert not list(tmp_path.glob("tmp.*")), "the script leaves something behind"


def _newcomer(
    script: Path, wheel: Path, environment: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(script), str(wheel)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.processes
def test_wheel_holds_all_project_and_console_files_and_nothing_compiled(
    wheel: Path,
) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    held = {name.removeprefix(f"{SHIPPED}/") for name in names if name.startswith(SHIPPED)}

    for part in project_files.PARTS:
        root = ROOT / part
        files = [root] if root.is_file() else [each for each in root.rglob("*") if each.is_file()]
        written = {str(each.relative_to(ROOT)) for each in files if each.suffix != ".pyc"}
        assert written - held == set()
    for folder in ("templates", "static"):
        shown = (ROOT / "src" / "stackroom_console" / folder).rglob("*")
        shipped = {str(each.relative_to(ROOT / "src")) for each in shown if each.is_file()}
        assert len(shipped) > 5
        assert shipped - set(names) == set()
    assert not [name for name in names if name.endswith(".pyc")]
    assert [name for name in names if re.fullmatch(r"stackroom-[^/]*/licenses/LICENSE", name)]
    assert [name for name in held if re.fullmatch(r"packages/ministack-.*/LICENSE", name)]


def test_wheel_requires_what_its_bundled_ministack_requires() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    local = [_normal(each) for each in stated["optional-dependencies"]["local"]]
    needed = [each for each in metadata.requires("ministack") or [] if ";" not in each]

    assert {"botocore"} == {re.split("[=<>]", each)[0] for each in needed} - {
        re.split("[=<>]", each)[0] for each in local
    }
    assert {_normal(each) for each in needed if not each.startswith("botocore")} <= set(local)
    assert stated["optional-dependencies"]["brought"] == [
        f"ministack=={metadata.version('ministack')}"
    ]


def _normal(requirement: str) -> str:
    """`>=6` and `>=6.0` ask for the same."""
    return requirement.lower().removesuffix(".0")
