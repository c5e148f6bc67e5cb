"""The kernel's lock on an open file: gone with the process that holds it, however that ends."""

import fcntl
import time


def taken_soon(descriptor: int) -> bool:
    """Tries for a moment: a verb that looks whether the lock is held holds it itself meanwhile."""
    deadline = time.monotonic() + 0.5
    while not taken(descriptor):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
