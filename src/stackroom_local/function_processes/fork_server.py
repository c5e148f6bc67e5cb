"""
The process that functions' processes are forked from, so that they share its imports.

`python -m stackroom_local.function_processes.fork_server PARENT`, a child of ministack's process
PARENT. It imports modules that read nothing of the environment: libraries, the packages of
`stackroom`, and botocore's descriptions of services. It runs no thread and keeps no client. A
forked process has its own environment, working directory, input and output, which come from its
launcher (`launcher.py`), and ends with it. A change of code takes effect when the local mode starts
again.
"""

import gc
import importlib
import marshal
import os
import pkgutil
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import boto3
from botocore.loaders import JSONFileLoader

import stackroom
from stackroom_local.function_processes.launcher import BEGUN, SOCKET
from stackroom_local.function_processes.runtime_client import run

# Not awslambdaric's client and bootstrap, and not `functions`: they read it when imported.
_LIBRARIES = (
    "aws_lambda_powertools.logging",
    "aws_lambda_powertools.metrics",
    "aws_lambda_powertools.utilities.batch",
    "aws_lambda_powertools.utilities.typing",
    "awslambdaric.lambda_runtime_marshaller",
    "pydantic.type_adapter",
)
_SERVICES = ("bedrock-agent", "bedrock-agent-runtime", "dynamodb", "s3", "stepfunctions")
_POLL_SECONDS = 0.5


def serve(parent: int) -> NoReturn:
    """Fork processes until the parent ends, which has to be polled."""
    gc.disable()  # it would leave holes, which each forked process fills with memory of its own
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # each tells its launcher how it ends
    with _listening() as listener:
        _import_all()
        share_descriptions()
        gc.freeze()
        while os.getppid() == parent:
            with suppress(TimeoutError):
                _fork(listener)
    os._exit(0)


def _listening() -> socket.socket:
    """
    Listen before the imports, so that early requests wait. The launcher explains the directory.
    """
    os.chdir(os.environ["TMPDIR"])
    Path(SOCKET).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    listener.bind(SOCKET)
    os.umask(mask)
    listener.listen(128)
    listener.settimeout(_POLL_SECONDS)
    return listener


def _import_all() -> None:
    services = pkgutil.walk_packages(stackroom.__path__, "stackroom.")
    for name in (*_LIBRARIES, *(each.name for each in services)):
        importlib.import_module(name)


def share_descriptions() -> None:
    """Load botocore's descriptions, 2 MB or more for each service, once for all processes."""
    load, kept = JSONFileLoader.load_file, dict[str, Any]()

    def load_once(loader: JSONFileLoader, file_path: str) -> Any:
        if file_path not in kept:
            kept[file_path] = load(loader, file_path)
        return kept[file_path]

    JSONFileLoader.load_file = load_once  # type: ignore[method-assign, assignment]
    session = boto3.session.Session("no key", "no secret", region_name="us-east-1")
    for service in _SERVICES:
        session.client(service)  # type: ignore[call-overload]


def _fork(listener: socket.socket) -> None:
    launcher, _ = listener.accept()
    with launcher:
        if os.fork() == 0:
            listener.close()
            _become(launcher)


def _become(launcher: socket.socket) -> NoReturn:
    """Turn this process into the one that the launcher asked for."""
    code = 1
    try:
        gc.enable()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        arguments = _take_over(launcher)
        threading.Thread(target=_end_with, args=(launcher,), daemon=True).start()
        launcher.sendall(BEGUN)
        code = _run(arguments[-1])
        sys.stdout.flush()
        sys.stderr.flush()
        launcher.sendall(bytes([code]))
    finally:
        os._exit(code)


def _take_over(launcher: socket.socket) -> list[str]:
    launcher.setblocking(True)
    size, descriptors, _, _ = socket.recv_fds(launcher, 8, 3)
    with launcher.makefile("rb") as file:
        content = file.read(int.from_bytes(size, "big"))
    arguments, environment, directory = marshal.loads(content)  # noqa: S302 - the socket is ours alone
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(directory)
    sys.argv = arguments[1:]
    sys.path[:0] = [directory, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    return list(arguments)


def _end_with(launcher: socket.socket) -> None:
    with suppress(ConnectionResetError):  # it ended before it had read everything
        launcher.recv(1)  # it sends nothing any more
    os._exit(0)


def _run(handler: str) -> int:
    """Run the handler and return the exit code, as an interpreter would."""
    try:
        run(handler)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(parent=int(sys.argv[1]))
