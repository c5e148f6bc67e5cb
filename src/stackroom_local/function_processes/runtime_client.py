"""
The process of a Lambda function under ministack: AWS's own runtime client, tied to its parent.

`python -m stackroom_local.function_processes.runtime_client HANDLER`. If ministack is killed, its
functions' processes are not told, and one that waits for an answer would stay. (PR_SET_PDEATHSIG
watches the thread that forked, and ministack's come and go.)
"""

import fcntl
import importlib
import os
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from stackroom_local.function_processes.process_hook import run_hook

LAYERS = "layers-of-the-function"  # in the directory of its files
_POLL_SECONDS = 0.5


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(0)


def _import_in_turn(handler: str) -> None:
    """
    Let only as many processes import at a time as there are cores.

    If a whole burst imported at once, each would take so long that ministack starts more processes,
    which take longer still.
    """
    place = os.getpid() % (os.cpu_count() or 1)
    with Path(tempfile.gettempdir(), f"starting-{place}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(Exception):  # the runtime client tells ministack of it in its own words
            importlib.import_module(handler.rpartition(".")[0])


def _find_own_modules() -> None:
    """
    Make the modules of the function and its layers importable after the checkout's and .venv's.

    Lambda looks into the function's files first, but their packages may be for another machine.
    """
    if root := os.environ.get("LAMBDA_TASK_ROOT"):
        sys.path += [root, f"{root}/{LAYERS}"]


def run(handler: str) -> None:
    """Run the handler. Never returns, except by an exception."""
    run_hook(os.environ.get("AWS_LAMBDA_FUNCTION_NAME", ""))
    _find_own_modules()
    _import_in_turn(handler)
    # Imported here because it reads the environment.
    from awslambdaric.__main__ import main  # noqa: PLC0415

    main(["", handler])


if __name__ == "__main__":
    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    run(sys.argv[1])
