"""
Environments of the clients' own, in .cache/clients: what they import never meets what we import.

Each is made once from a lock with hashes, and again when that changes; PyPI and npm are asked where
pip and npm of this machine look for them.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from uv import find_uv_bin

from tests.clients.clients import NPM, REQUIREMENTS, ROOT

CACHE = ROOT / ".cache" / "clients"


def installed(name: str) -> Path:
    """
    The folder of an environment, by its lock's name; safe when several processes ask at once.

    Raises `CalledProcessError`, with what was printed, where something can't be installed.
    """
    if name == NPM.name:
        return installed_npm(name, NPM)
    return _kept(name, REQUIREMENTS / f"{name}.lock", _install_python)


def installed_npm(name: str, pinned: Path) -> Path:
    """The same of what the package.json and package-lock.json of this folder name."""
    return _kept(name, pinned / "package-lock.json", _install_npm)


def _kept(name: str, lock_file: Path, install: Callable[[Path, Path], None]) -> Path:
    folder, made_from = CACHE / name, CACHE / f"{name}.sha256"
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted = hashlib.sha256(lock_file.read_bytes() + sys.version.encode()).hexdigest()
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made_from.exists() or made_from.read_text("utf-8") != wanted:
            made_from.unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            install(folder, lock_file)
            made_from.write_text(wanted, "utf-8")  # last: what was interrupted is made anew
    return folder


def _install_python(folder: Path, lock_file: Path) -> None:
    uv = find_uv_bin()
    _run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
    options = ["--quiet", "--no-deps", "--require-hashes", "--requirements", str(lock_file)]
    _run([uv, "pip", "install", "--python", str(folder / "bin" / "python"), *options])


def _install_npm(folder: Path, lock_file: Path) -> None:
    folder.mkdir()
    for path in (lock_file, lock_file.with_name("package.json")):
        shutil.copy(path, folder)
    # None needs a built binary, so no package's script is run.
    _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder)


def _run(command: list[str], cwd: Path | None = None) -> None:
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{' '.join(command)}: {run.stdout[-2000:]}{run.stderr[-2000:]}"
