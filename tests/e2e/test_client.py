"""docs/client.md: its lines are run as they stand, one after another."""

import os
import re
import subprocess
import sys
from pathlib import Path

from stackroom_local.processes import free_ports
from stackroom_local.state import Instance
from tests.e2e.people import Person

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_code_block_of_the_page_works(instance: Instance, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "client.md").read_text("utf-8")
    # The port that deployments know may be somebody's on this machine.
    program = "\n".join(BLOCK.findall(page)).replace(
        "(webbrowser.open)", f"(webbrowser.open, port={free_ports(1)})"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            **{k: v for k, v in instance.environment().items() if k.startswith("STACKROOM_")},
            "STACKROOM_TOKEN": Person(instance, "rowena").token(),
            "BROWSER": f"{sys.executable} -m tests.sites.browser %s",
            "STACKROOM_TEST_USER": "rowena",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for told in ("68 of 68 bytes", "indexed None", "Notes 1", "boathouse.md indexed"):
        assert told in lines
    assert any("opens at half past six" in each for each in lines)
    assert "CATALOG_NOT_FOUND Catalog 'cat-" in done.stdout
    assert "['ebb.txt', 'flood.txt']" in lines
    copied = (tmp_path / "copy.md").read_text()
    assert copied == (tmp_path / "boathouse.md").read_text()
