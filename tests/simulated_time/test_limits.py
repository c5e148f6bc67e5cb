"""The bound of docs/scaling.md, compared with values worked out by hand."""

import pytest

from benchmarks.limits import Limits, Work, alone, bound


def at_once(count: int, seconds: float) -> list[Work]:
    return [at(0.0, seconds)] * count


def at(moment: float, seconds: float, *, latency: float = 0.0) -> Work:
    return Work(at=moment, submitted=moment + latency, seconds=seconds)


def test_one_document_takes_a_direct_call_and_its_own_time() -> None:
    [work] = at_once(1, 1.0)

    assert bound([work], pool_size=1) == pytest.approx(4 + 1)
    assert alone(work) == 4 + 1


def test_jobs_on_other_knowledge_bases_take_their_share_of_much_work() -> None:
    count = 100_000
    calls_alone = count * 1.4 / 10

    of_five = bound(at_once(count, 1.0), pool_size=5)
    of_twenty = bound(at_once(count, 1.0), pool_size=20)

    # In a second, ten calls index ten documents of 1.4 s, and four or five jobs one each.
    assert of_five == pytest.approx(count / (10 / 1.4 + 4), rel=0.01)
    assert of_twenty == pytest.approx(count / (10 / 1.4 + 5), rel=0.01)
    assert of_twenty < of_five < calls_alone


def test_jobs_begin_one_by_one() -> None:
    # The first lists after 4 s, the next 10 s later; direct calls are too few to matter.
    few = Limits(calls=2, per_call=1, call=1_000.0, jobs=3)

    assert bound(at_once(100, 1.0), pool_size=4, limits=few) == pytest.approx(
        4 + (100 + 10 + 20) / 3, abs=0.01
    )


def test_a_long_document_is_never_cut() -> None:
    works = [*at_once(10, 1.0), at(3.0, 100.0)]

    assert bound(works, pool_size=1, by_jobs=False) == pytest.approx(3 + 4 + 100, abs=0.01)
    # By a job that was started for the others, at best.
    assert bound(works, pool_size=2) == pytest.approx(4 + 100, abs=0.01)


def test_a_job_removes_any_number_at_once_and_calls_ten_at_a_time() -> None:
    storm = at_once(5_000, 0.0)

    assert bound(storm, pool_size=1) == pytest.approx(4, abs=0.01)
    assert bound(storm, pool_size=1, by_jobs=False) == pytest.approx(500 * 4 / 10, abs=0.01)
