"""The key of the console's cookies: made once, so that sessions outlast a restart."""

import contextlib
import os
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet

_FILE = "seal.key"


def seal_key(data_dir: Path) -> bytes:
    """That of a data directory; whoever can read it can be anyone, so it is its owner's alone."""
    path = data_dir / _FILE
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=data_dir)  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(Fernet.generate_key())
        with contextlib.suppress(FileExistsError):  # of two at once the first wins
            os.link(draft, path)
        os.unlink(draft)
    return path.read_bytes()
