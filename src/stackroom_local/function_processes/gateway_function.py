"""
The process of a Lambda environment: AWS's own runtime client, which ends with its parent.

`python -m stackroom_local.function_processes.gateway_function HANDLER`, with standard input a pipe
from the parent. The pipe ends when the parent dies, even by SIGKILL. (PR_SET_PDEATHSIG watches the
thread that forked, and ours come and go.)
"""

import io
import os
import sys
import threading
from typing import Any

from awslambdaric.__main__ import main

from stackroom_local.function_processes.aws_call_recorder import record_if_asked


def _exit_with_parent() -> None:
    os.read(0, 1)
    os._exit(0)


class Log(io.FileIO):
    """A log file that drops lines on a full disk, so that no call fails."""

    def write(self, line: Any) -> int:
        try:
            return super().write(line)
        except OSError:
            return len(line)


if __name__ == "__main__":
    log = io.TextIOWrapper(
        Log(1, "w", closefd=False), "utf-8", errors="backslashreplace", write_through=True
    )
    sys.stdout = sys.stderr = log
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    record_if_asked()
    main(sys.argv)
