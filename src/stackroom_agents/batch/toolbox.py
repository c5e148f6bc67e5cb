"""
Loads the tools of TOOLS_CONFIG once for each process.

An asset is a .py file or a zip of them. Each goes into a folder of its own on Python's path, after
the installed packages: the files of a zip import each other from its root. Every Strands tool in a
file is loaded (a `@tool`, or TOOL_SPEC with its function); a zip may have files without one, and
its tests (test_*.py) are ignored.
"""

import importlib
import io
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from strands.tools.loader import load_tools_from_module
from strands.types.tools import AgentTool

from stackroom.errors import ObjectRefused
from stackroom_agents.agent_errors import AgentMisconfigured
from stackroom_agents.batch.agent_events import Objects
from stackroom_agents.batch.definition_settings import ToolAsset, ToolModule

# A function's /tmp holds 512 MB by default, and what is read of an asset its memory once more.
MAX_BYTES = 64 * 1024**2


def load_tools(
    configured: Iterable[ToolAsset | ToolModule], objects: Objects
) -> tuple[AgentTool, ...]:
    """
    Return every tool, in order.

    Raises AgentMisconfigured, naming the asset or the module and its file, if it can't be read or
    imported, has no tool, or has one whose name is taken. Raises StoreUnavailable.
    """
    found: dict[str, tuple[AgentTool, str]] = {}
    for each in configured:
        where, tools = _loaded(each, objects)
        for tool in tools:
            if tool.tool_name in found:
                of = f"{found[tool.tool_name][1]} and {where}"
                raise AgentMisconfigured(f"tool {tool.tool_name!r}", f"it is in {of}")
            found[tool.tool_name] = (tool, where)
    return tuple(tool for tool, _ in found.values())


def _loaded(configured: ToolAsset | ToolModule, objects: Objects) -> tuple[str, list[AgentTool]]:
    if isinstance(configured, ToolModule):
        where = f"module {configured.module!r}"
        modules = [_imported(configured.module, where)]
    else:
        where = f"asset {configured.key!r}"
        modules = _unpacked(configured, where, objects)
    # A file may import a tool of another's: it is one tool.
    distinct = {id(tool): tool for module in modules for tool in _tools_in(module, where)}
    if not distinct:
        raise AgentMisconfigured(where, "it contains no Strands tool")
    return where, list(distinct.values())


def _unpacked(asset: ToolAsset, where: str, objects: Objects) -> list[ModuleType]:
    folder = Path(tempfile.mkdtemp(prefix="agent-tools-"))
    try:
        body = objects.read(asset.bucketName, asset.key, limit=MAX_BYTES)
    except ObjectRefused as error:
        raise AgentMisconfigured(where, error.reason) from error
    if asset.isZipArchive:
        try:
            with zipfile.ZipFile(io.BytesIO(body)) as archive:
                archive.extractall(folder)  # as files, and none outside the folder
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            # Encrypted is a RuntimeError, compressed in an unknown way NotImplementedError.
            raise AgentMisconfigured(where, f"it is not a readable zip file ({error})") from None
    else:
        # An asset's key is a hash. So is the module's name, which nothing else has.
        (folder / f"{PurePosixPath(asset.key).stem}.py").write_bytes(body)
    names = [_dotted(path.relative_to(folder)) for path in sorted(folder.rglob("*.py"))]
    _forget_namesakes(names)
    sys.path.insert(0, str(folder))
    try:
        # A file of a folder may have been made in the second in which Python looked at it last.
        importlib.invalidate_caches()
        return [_of_asset(name, where, folder) for name in names if not _is_test(name)]
    finally:
        sys.path.remove(str(folder))
        sys.path.append(str(folder))  # a tool may import when it is called


def _of_asset(name: str, where: str, folder: Path) -> ModuleType:
    place = f"{where}, file {name.replace('.', '/')}.py"
    module = _imported(name, place)
    if not Path(module.__file__ or "").is_relative_to(folder):
        problem = f"{name!r} is the name of an installed module, too; rename the file"
        raise AgentMisconfigured(place, problem)
    return module


def _imported(name: str, where: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # whatever a tool's file does, it is its maker who must know
        raise AgentMisconfigured(where, f"{type(error).__name__}: {error}") from error


def _tools_in(module: ModuleType, where: str) -> Sequence[AgentTool]:
    if tools := [each for each in vars(module).values() if isinstance(each, AgentTool)]:
        return tools
    specification: Any = getattr(module, "TOOL_SPEC", None)
    if specification is None:
        return []
    try:
        return load_tools_from_module(module, specification["name"])
    except Exception as error:
        place = f"{where}, module {module.__name__!r}"
        raise AgentMisconfigured(place, f"{type(error).__name__}: {error}") from error


def _forget_namesakes(names: Iterable[str]) -> None:
    """Remove an earlier asset's modules of the same names; its tools have been loaded already."""
    for name in {each.partition(".")[0] for each in names}:
        known = sys.modules.get(name)
        if known is not None and _is_of_an_asset(known):
            for each in [key for key in sys.modules if key.partition(".")[0] == name]:
                del sys.modules[each]


def _is_of_an_asset(module: ModuleType) -> bool:
    places = [module.__file__] if getattr(module, "__file__", None) else [*module.__path__]
    return any("agent-tools-" in str(place) for place in places)


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and parts[:-1] else parts)


def _is_test(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_") or name.rpartition(".")[2] == "conftest"
