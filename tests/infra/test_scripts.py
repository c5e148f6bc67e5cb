"""What make runs of infra/ beside the app: a module here can hide one of Python's own from it."""

import subprocess
import sys

import pytest

from infra.bundling import ROOT

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("script", ["purge.py", "limits.py"])
def test_a_script_starts_by_its_path(script: str) -> None:
    command = [sys.executable, f"infra/{script}", "--help"]

    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")


def test_no_module_hides_one_of_pythons_own() -> None:
    modules = {path.stem for path in (ROOT / "infra").glob("*.py")}

    assert modules & sys.stdlib_module_names == set()
