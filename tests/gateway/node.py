"""Clients from npm as tests/gateway/npm/package-lock.json pins them, installed once."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.gateway.serving import ROOT

_PINNED = Path(__file__).parent / "npm"
_INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")


def installed() -> Path:
    """Where `npm ci` has been, in .cache; another lock file is another directory."""
    lock = (_PINNED / "package-lock.json").read_bytes()
    directory = ROOT / ".cache" / "npm" / hashlib.sha256(lock).hexdigest()[:16]
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=directory.parent))
        shutil.copytree(_PINNED, draft, dirs_exist_ok=True)
        subprocess.run(_INSTALL, cwd=draft, check=True, timeout=900, stdout=subprocess.DEVNULL)
        draft.rename(directory)
    # The script may be newer than the packages that it imports from there.
    for script in _PINNED.glob("*.mjs"):
        shutil.copy(script, directory)
    return directory


def environment(home: Path) -> dict[str, str]:
    """Of a program that finds nothing of this machine's user, and opens no browser."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "NO_COLOR": "1",
        "MCP_AUTO_OPEN_ENABLED": "false",
        "MCP_INSPECTOR_SECRET_STORE": "file",  # the machine may have no keychain, or the user's
    }
