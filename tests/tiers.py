"""
When a test is run: before a commit (`make quick`), with every change (`make test`), or before a
release too (`make prove`).

What every change must hold is never only in `prove`: nobody finds another's data, a death before or
after a write and an answer that is lost do no harm, each Catch, Retry and Choice of the state
machine leads where it says, rights are those of the templates, and a dropped file gets its answer.
"""

from pathlib import Path, PurePosixPath
from typing import Literal

Tier = Literal["quick", "test", "prove"]

# The longest path that begins a test's file decides; what none begins is of "test".
TIERS: dict[str, Tier] = {
    # Use cases over fakes with state: a minute for all of them. Of these, what starts a process or
    # takes seconds is left to "test" (conftest.py).
    "client": "quick",
    "contract/test_golden_files.py": "quick",
    "contract/test_imports.py": "quick",
    "contract/test_pages.py": "quick",
    "contract/test_promises.py": "quick",
    "contract/test_tool_schemas.py": "quick",
    "evaluation": "quick",
    "unit": "quick",
    # A local mode of their own, killed, attacked, or driven by other programs.
    "campaigns": "prove",
    "clients": "prove",
    "conformance": "prove",
    "e2e": "prove",
    "sites": "prove",
    # Six stories of chaos.
    "campaigns/test_stories.py": "test",
    # A drop to its answer over MCP, at the one local mode that all share.
    "e2e/test_asking.py": "test",
    "e2e/test_dropping.py": "test",
    # In Chromium: a catalog and an upload.
    "browser": "prove",
    "browser/test_catalogs.py": "test",
    # An agent, a page or an order of passages end to end, and OCR; `test` has their parts.
    "agents/test_in_the_loop.py": "prove",
    "aws/test_text_detection.py": "prove",
    "contract/stores/test_finding.py": "prove",
    # Every start and stop of the local mode, a loader of PostgreSQL, and the wheel.
    "local/test_lifecycle.py": "prove",
    "local/test_pgvector_load.py": "prove",
    "local/test_wheel.py": "prove",
    # The state machine over moto's interpreter; `test` has each Choice, Catch and Retry.
    "simulated_time": "prove",
    "workflow": "prove",
    "workflow/test_ways.py": "test",
    # A local mode, a simulator, a gateway or a synthesis for each case.
    "infra/test_contexts.py": "prove",
    "infra/test_rehearsal_changes.py": "prove",
    "simulator/tests/test_managed_ingestion.py": "prove",
    "simulator/tests/test_pytest_plugin.py": "prove",
    "simulator/tests/test_parsing.py": "prove",
    "simulator/tests/test_textract.py": "prove",
    # The wheel, in an environment of its own, and other programs' packages.
    "simulator/tests/test_wheel.py": "prove",
}


def path_of(file: Path, root: Path) -> str:
    """
    Return the file's path with slashes: `unit/test_keys.py` under tests/, others from the root.
    """
    return file.relative_to(root).as_posix().removeprefix("tests/")


def tier_of(file: str) -> Tier:
    """Return the tier of a test file, given its path as `path_of` returns it."""
    path = PurePosixPath(file)
    for each in (path, *path.parents):
        if (found := TIERS.get(str(each))) is not None:
            return found
    return "test"


def is_run(file: str, tier: Tier) -> bool:
    """Return whether `make <tier>` runs tests of that file: "test" includes "quick"."""
    own = tier_of(file)
    return own == tier or (tier, own) == ("test", "quick")
