"""
Runs functions from this project if their handler is one of Stackroom's, whoever deployed them.

A BatchAgent ships wheels for arm64, which this machine may not run, so such a function is started
as our own are (`bootstrap_archive`): by AWS's runtime client, with the packages installed here. Its
environment, role, memory, time limit, logs, and the result of GetFunction stay as they are. The
function's own files and its layers come after those packages, so third-party modules are found if
they are pure Python.

ministack itself runs every other function, on the Python or Node of this machine.
"""

import functools
import hashlib
import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackroom_local.function_processes import launcher
from stackroom_local.function_processes.runtime_client import LAYERS
from stackroom_local.project_files import task_root

# The deployment package of every function here: one executable that runs its handler.


def bootstrap_key(archive: bytes) -> str:
    """
    Return a key that depends on the archive, so that a changed archive replaces kept functions.
    """
    return f"stackroom-local-bootstrap-{hashlib.sha256(archive).hexdigest()[:16]}.zip"


def bootstrap_archive(root: Path) -> bytes:
    """
    Return an archive that starts the handlers in `root` on this process's Python.

    Its bytes are the same every time. It uses AWS's runtime interface client, because ministack's
    own Python worker loses the exception's type, by which Step Functions' Retry and Catch choose.
    """
    script = (
        "#!/bin/sh\n"
        f'export PYTHONPATH="{root}:{root}/src" PYTHONUNBUFFERED=1\n'
        f'exec "{sys.executable}" -I -S "{launcher.__file__}"'
        ' -m stackroom_local.function_processes.runtime_client "$_HANDLER"\n'
    )
    # A fixed date keeps the archive, and with it the function's code hash, the same every time.
    entry = zipfile.ZipInfo("bootstrap", date_time=(2026, 1, 1, 0, 0, 0))
    entry.external_attr = 0o700 << 16
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(entry, script)
    return archive.getvalue()


HANDLERS = ("stackroom_agents.", "functions.")
_KEPT = 32  # packages put together, of a few MB each


def is_ours(config: Mapping[str, Any]) -> bool:
    """Return whether a function with this configuration runs a handler of this project."""
    python = str(config.get("Runtime", "")).startswith("python")
    return python and str(config.get("Handler", "")).startswith(HANDLERS)


@functools.lru_cache(_KEPT)
def package(code: bytes, layers: tuple[bytes, ...]) -> bytes:
    """
    Return an archive of the function's own files, its layers' Python files, and our executable.

    Of files with the same name, the first layer's wins: on AWS it is the one that was added last
    [Lambda developer guide: adding layers to functions].
    """
    made = io.BytesIO(bootstrap_archive(task_root()))
    with zipfile.ZipFile(made, "a", zipfile.ZIP_STORED) as target:
        for archive in layers:
            _copy(archive, target, inside="python/", to=f"{LAYERS}/")
        _copy(code, target, inside="", to="")
    return made.getvalue()


def _copy(archive: bytes, target: zipfile.ZipFile, *, inside: str, to: str) -> None:
    taken = set(target.namelist())
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        for entry in source.infolist():
            name = to + entry.filename.removeprefix(inside)
            if entry.filename.startswith(inside) and not entry.is_dir() and name not in taken:
                target.writestr(name, source.read(entry))


def install() -> None:
    from ministack.services import lambda_svc  # noqa: PLC0415 - ministack's alone

    dispatch = lambda_svc._execute_function_dispatch

    @functools.wraps(dispatch)
    def dispatch_ours(
        func: dict[str, Any], config: dict[str, Any], *arguments: Any, **named: Any
    ) -> Any:
        if not is_ours(config) or not func.get("code_zip"):
            return dispatch(func, config, *arguments, **named)
        layers = (lambda_svc._resolve_layer_zip(each) for each in config.get("Layers", []))
        found = tuple(each for each in layers if each)[::-1]
        ours = {**config, "Runtime": "provided.al2023", "Layers": []}
        code = package(func["code_zip"], found)
        return dispatch({**func, "config": ours, "code_zip": code}, ours, *arguments, **named)

    lambda_svc._execute_function_dispatch = dispatch_ours
