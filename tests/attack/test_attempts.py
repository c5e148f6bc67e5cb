"""
A sample of `make attack`, in the local mode that all end-to-end tests share; and the proof that it
would see what it looks for.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from stackroom_local.state import Instance
from tests.attack import naming, pretending
from tests.attack.breaking import broken, without_interceptor, without_owners
from tests.attack.campaign import attempts, judge, run
from tests.attack.stage import TOOLS, Stage, staged

SEED = 9
READING = {"list_catalog_documents", "get_indexing_status", "download_from_catalog"}


@pytest.fixture(scope="module")
def stage(instance: Instance) -> Iterator[Stage]:
    cast = {"victim": ("ida", "harbour"), "attacker": ("kim", "sea")}
    with staged(instance, SEED, **cast) as found:
        yield found


def test_no_attempt_of_a_sample_reaches_what_is_another_users(stage: Stage) -> None:
    tally = run(stage, attempts(stage, SEED, share=5))

    assert (tally.leaks, tally.unstructured, tally.changes) == ({}, {}, [])
    assert set(TOOLS) <= set(tally.tools)


def test_all_attempts_are_many_and_try_every_tool(stage: Stage) -> None:
    found = list(attempts(stage, SEED))

    assert len(found) >= 1000
    assert set(TOOLS) <= {each.tool for each in found}


def test_where_nobody_asks_whose_a_catalog_is_it_is_seen(stage: Stage, tmp_path: Path) -> None:
    with broken(stage, tmp_path, without_owners) as open_to_all:
        # Those that change nothing, for this stage is to be used again.
        reading = [
            each
            for each in naming.foreign_ids(open_to_all, Random(SEED))
            if each.name == "as it is" and each.tool in READING
        ]
        tally = judge(open_to_all, reading)

    assert len(tally.leaks) == len(READING)


def test_where_no_interceptor_sets_the_headers_it_is_seen(stage: Stage, tmp_path: Path) -> None:
    with broken(stage, tmp_path, without_interceptor) as believing:
        tally = judge(believing, islice(pretending.spoofed(believing, Random(SEED)), 3))

    assert "tells" in str(tally.leaks)
