"""Tests that every change must pass run with every change."""

from pathlib import Path

import pytest

from tests.tiers import TIERS, is_run, tier_of

_TESTS = Path(__file__).parents[1]
# By promise, where it is proven. A file that moves or is folded into another takes its line along.
PROMISES = {
    "nobody finds another's": (
        "console/test_access.py",
        "contract/stores/test_isolation.py",
        "gateway/test_identity_headers.py",
        "unit/test_retrieval_tenancy.py",
    ),
    "a death before or after a write does no harm": (
        "campaigns/test_stories.py",
        "unit/test_deletions.py",
        "unit/test_takedown.py",
    ),
    "a lost answer of a service does no harm": ("contract/ports/test_lost_answers.py",),
    "each Catch, Retry and Choice leads where it says": (
        "contract/test_workflow.py",
        "workflow/test_ways.py",
    ),
    "rights are those of the templates": ("infra/test_permissions.py",),
    "a dropped file gets its answer": ("e2e/test_asking.py", "e2e/test_dropping.py"),
}


@pytest.mark.parametrize("file", [file for files in PROMISES.values() for file in files])
def test_make_test_runs_the_tests_of_every_promise(file: str) -> None:
    assert (_TESTS / file).is_file()
    assert is_run(file, "test")


def test_each_path_of_the_table_exists_and_has_a_description() -> None:
    for path, tier in TIERS.items():
        assert (_TESTS / path).exists() or (_TESTS.parent / path).exists(), path
        assert tier_of(str(Path(path).parent)) != tier, f"{path} is {tier} without its line"
