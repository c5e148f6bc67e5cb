"""Set-up and deployment install only what the hashes of lock files allow."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCKED = re.compile(
    r"--require-hashes|--constraint requirements\.lock --build-constraint requirements\.lock"
    r"|npm ci |--package-lock-only"
)


def test_makefile_installs_only_locked_packages() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    lines = re.sub(r"\s*\\\n\s*", " ", makefile).split("\n")

    installing = [each for each in lines if re.search(r"pip install|npm (ci|install)|npx ", each)]

    assert len(installing) >= 6
    assert [each for each in installing if not LOCKED.search(each)] == []
