"""A handler's module that takes its time to be imported, and tells from when to when."""

import os
import time
from pathlib import Path

_began = time.monotonic()
time.sleep(0.3)
Path(os.environ["IMPORTED"], str(os.getpid())).write_text(f"{_began} {time.monotonic()}")


def handler(event: object, context: object) -> None:
    pass
