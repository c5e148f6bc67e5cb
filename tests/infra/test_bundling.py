"""What is zipped for the functions, and that what make runs of infra/ starts by its path."""

import json
import re
import subprocess
import sys

import pytest

from infra import bundling
from stackroom.aws.session import ALIASES
from tests.infra.assembly import Assembly


def test_asset_holds_functions_and_product_without_local_mode(
    assembly: Assembly,
) -> None:
    assets = [each for each in assembly.directory.glob("asset.*") if each.is_dir()]

    assert assets
    for asset in assets:
        held = {path.name for path in asset.iterdir()}

        assert {"functions", "stackroom"} <= held
        assert "stackroom_local" not in held
        assert not list(asset.rglob("__pycache__"))


def test_every_service_that_the_product_makes_a_client_of_is_kept() -> None:
    """But for PostgreSQL's: agents alone ask it, and bring what they reach it by."""
    sources = [
        path.read_text("utf-8")
        for folder in ("functions", "src/stackroom")
        for path in (bundling.ROOT / folder).rglob("*.py")
        if "pgvector" not in path.parts
    ]

    called = {name for text in sources for name in re.findall(r'client\("([a-z0-9-]+)"\)', text)}

    assert called
    assert {ALIASES.get(name, name) for name in called} <= bundling.SERVICES


def test_the_cli_bundles_and_everything_else_does_not() -> None:
    shared = json.loads((bundling.ROOT / "cdk.json").read_text("utf-8"))

    assert shared["context"]["bundling"] == "full"
    assert shared["app"] == ".venv/bin/python infra/app.py"


@pytest.mark.parametrize("script", ["purge.py", "limits.py"])
def test_a_script_starts_by_its_path(script: str) -> None:
    command = [sys.executable, f"infra/{script}", "--help"]

    run = subprocess.run(command, cwd=bundling.ROOT, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")


def test_no_module_hides_one_of_pythons_own() -> None:
    modules = {path.stem for path in (bundling.ROOT / "infra").glob("*.py")}

    assert modules & sys.stdlib_module_names == set()
