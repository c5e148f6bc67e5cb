"""The zips of the functions: what is in them, and that ours is enough to read without a network."""

import json
import re
from pathlib import Path

import pytest

from infra import bundling
from stackroom.aws.session import ALIASES
from stackroom_constructs import packages
from tests.infra.assembly import Assembly


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """As uv leaves it: packages, their records, and every service that botocore knows."""
    for name in (
        "bin/jp.py",
        "boto3-1.0.dist-info/RECORD",
        "boto3-1.0.dist-info/METADATA",
        "botocore/data/s3/2006-03-01/service-2.json.gz",
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "botocore/data/endpoints.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    return tmp_path


def test_an_asset_holds_the_functions_and_the_product_but_not_the_local_mode(
    assembly: Assembly,
) -> None:
    assets = [each for each in assembly.directory.glob("asset.*") if each.is_dir()]

    assert assets
    for asset in assets:
        held = {path.name for path in asset.iterdir()}

        assert {"functions", "stackroom"} <= held
        assert "stackroom_local" not in held
        assert not list(asset.rglob("__pycache__"))


def test_services_that_nobody_calls_and_records_of_the_installation_are_left_out(
    unpacked: Path,
) -> None:
    packages.prune(unpacked, bundling.SERVICES)

    kept = {path.name for path in (unpacked / "botocore" / "data").iterdir()}

    assert kept == {"s3", "endpoints.json"}
    assert not (unpacked / "bin").exists()
    assert [path.name for path in (unpacked / "boto3-1.0.dist-info").iterdir()] == ["METADATA"]


def test_every_service_is_kept_where_it_is_not_known_what_the_code_calls(unpacked: Path) -> None:
    packages.prune(unpacked, None)

    kept = {path.name for path in (unpacked / "botocore" / "data").iterdir()}

    assert kept == {"s3", "ec2", "endpoints.json"}


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
