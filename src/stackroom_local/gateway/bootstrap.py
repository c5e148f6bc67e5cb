"""
The process of a Lambda environment: AWS's own runtime client, tied to the life of its parent.

`python -m stackroom_local.gateway.bootstrap HANDLER`, with standard input a pipe from the parent.
The pipe's end is the parent's death, even by SIGKILL. (PR_SET_PDEATHSIG would not do: it watches
the thread that forked, and ours come and go.)
"""

import os
import sys
import threading

from awslambdaric.__main__ import main

from stackroom_local.recording import record_if_asked


def _exit_with_parent() -> None:
    os.read(0, 1)
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    record_if_asked()
    main(sys.argv)
