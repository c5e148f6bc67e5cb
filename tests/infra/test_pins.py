"""Set-up and deployment install only what the hashes of lock files allow."""

import hashlib
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
LOCKED = re.compile(
    r"--require-hashes|--constraint requirements\.lock --build-constraint requirements\.lock"
    r"|npm ci |--package-lock-only"
)
METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def test_makefile_installs_only_locked_packages() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lines = re.sub(r"\s*\\\n\s*", " ", makefile).split("\n")

    installing = [each for each in lines if re.search(r"pip install|npm (ci|install)|npx ", each)]

    assert len(installing) >= 6
    assert [each for each in installing if not LOCKED.search(each)] == []


def test_lock_of_the_cdk_cli_has_hashes_and_no_addresses() -> None:
    text = (ROOT / "infra" / "cdk_cli" / "package-lock.json").read_text("utf-8")

    assert text.count('"integrity": "sha512-') == text.count('"node_modules/')
    assert '"resolved"' not in text


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("tiny.py", "")
        made.writestr("tiny-1.dist-info/METADATA", METADATA)
        made.writestr("tiny-1.dist-info/WHEEL", WHEEL)
        made.writestr("tiny-1.dist-info/RECORD", "")
    return path


@pytest.mark.parametrize(("changed", "refused"), [("", False), ("another", True)])
def test_package_with_another_hash_is_refused(
    wheel: Path, tmp_path: Path, changed: str, refused: bool
) -> None:
    """
    The command is that of the Makefile's first step, which installs the project's dependencies.
    """
    digest = hashlib.sha256(wheel.read_bytes() + changed.encode()).hexdigest()
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"tiny==1 \\\n    --hash=sha256:{digest}\n", "utf-8")
    where = ["--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "there")]

    run = subprocess.run(
        [find_uv_bin(), "pip", "install", *where, "--constraint", str(lock), "tiny"],
        env={"UV_CACHE_DIR": str(tmp_path / "cache"), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ("Hash mismatch" in run.stderr) is refused, run.stderr
    assert (run.returncode != 0) is refused
