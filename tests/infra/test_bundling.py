"""The zips of the functions, and the scripts of infra/ that make runs by their paths."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from infra import bundling
from stackroom.aws.session import ALIASES
from stackroom_constructs.bundling import requirements
from tests.infra.assembly import Assembly

# As the stacks choose them.
ZIPS = {
    bundling.CORE: "catalog_tools event_publisher ingest reconciler retrieve search_index"
    " status_poller upload_handler webhook_sender",
    bundling.CONSOLE: "console",
    bundling.IDENTITY: "identity_interceptor",
    bundling.INSPECT: "inspect",
    bundling.OPENSEARCH: "opensearch_retrieve",
    bundling.RUNNER: "agent_runner",
}
# Imports modules as if nothing else were installed than what may be imported.
IMPORTING = """
import importlib, sys

absent, *modules = sys.argv[1:]

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent.split():
            raise ModuleNotFoundError(f"{name} is not in the zip", name=name)

sys.meta_path.insert(0, Absent())
for module in modules:
    importlib.import_module(module)
"""


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


@pytest.mark.parametrize("group", ZIPS, ids=lambda group: group.name)
def test_zip_has_every_package_that_its_functions_import(group: bundling.Group) -> None:
    packed = set(_packed(requirements(group.extras)))
    absent = {
        module
        for module, packages in metadata.packages_distributions().items()
        if not packed & {canonicalize_name(each) for each in packages}
    }
    modules = [f"functions.{each}.handler" for each in ZIPS[group].split()]
    absent -= {"functions", *group.packages}
    command = [sys.executable, "-c", IMPORTING, " ".join(absent), *modules]

    run = subprocess.run(command, cwd=bundling.ROOT, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")


def test_every_function_is_in_a_zip() -> None:
    handlers = {path.parent.name for path in (bundling.ROOT / "functions").glob("*/handler.py")}

    assert {each for functions in ZIPS.values() for each in functions.split()} == handlers


def _packed(wanted: list[str]) -> Iterator[str]:
    """Yield the packages that these requirements install, with what these require in turn."""
    found, left = set[str](), list(map(Requirement, wanted))
    while left:
        each = left.pop()
        name = canonicalize_name(each.name)
        extras = each.extras or {""}
        if (key := f"{name}{sorted(extras)}") in found:
            continue
        found.add(key)
        yield name
        left += [
            needed
            for needed in map(Requirement, metadata.requires(name) or ())
            if needed.marker is None
            or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
        ]


@pytest.mark.parametrize("script", ["purge.py", "limits.py"])
def test_script_starts_by_its_path(script: str) -> None:
    command = [sys.executable, f"infra/{script}", "--help"]

    run = subprocess.run(command, cwd=bundling.ROOT, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
