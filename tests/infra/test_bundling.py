"""The zips of the functions, and the scripts of infra/ that make runs by their paths."""

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


def test_bundle_has_every_botocore_service_that_the_product_calls() -> None:
    """Except PostgreSQL's driver: only agents use it, and bring it themselves."""
    sources = [
        path.read_text("utf-8")
        for folder in (
            "functions",
            "src/stackroom",
            "src/stackroom_agents/user_agents",
            "src/stackroom_stores",
        )
        for path in (bundling.ROOT / folder).rglob("*.py")
        if "pgvector" not in path.parts
    ]

    called = {name for text in sources for name in re.findall(r'client\("([a-z0-9-]+)"\)', text)}

    assert called
    assert {ALIASES.get(name, name) for name in called} <= bundling.SERVICES


@pytest.mark.parametrize("script", ["purge.py", "limits.py"])
def test_script_starts_by_its_path(script: str) -> None:
    command = [sys.executable, f"infra/{script}", "--help"]

    run = subprocess.run(command, cwd=bundling.ROOT, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
