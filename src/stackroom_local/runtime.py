"""
The process of a Lambda function under ministack: AWS's own runtime client, tied to its parent.

`python -m stackroom_local.runtime HANDLER`. If ministack is killed, nobody tells its functions'
processes; one that waits for an answer from elsewhere would stay. PR_SET_PDEATHSIG would not do:
it watches the thread that forked, and ministack's come and go.
"""

import os
import sys
import threading
import time

from awslambdaric.__main__ import main

_POLL_SECONDS = 0.5


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_exit_with, args=(os.getppid(),), daemon=True).start()
    main(sys.argv)
