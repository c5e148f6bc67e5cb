"""Feedback on answers: its owner, its limit, and its catalog."""

from datetime import timedelta

import pytest

from stackroom.catalogs.feedback import (
    MOST_KEPT,
    Feedback,
    FeedbackKeeping,
    FeedbackOrigin,
    FeedbackVerdict,
)
from stackroom.errors import CatalogNotFound
from tests.fakes.feedback import FakeFeedback
from tests.fakes.pipeline import FakeCatalogs
from tests.support.records import NOW, a_catalog


def a_feedback(
    number: int = 0, *, user_id: str = "alice", catalog_id: str | None = None
) -> Feedback:
    return Feedback(
        user_id=user_id,
        question=f"question {number}?",
        verdict=FeedbackVerdict.KEPT,
        origin=FeedbackOrigin.ASK,
        catalog_id=catalog_id,
        at=NOW + timedelta(seconds=number),
    )


@pytest.fixture
def feedback() -> FeedbackKeeping:
    catalogs = FakeCatalogs()
    for each in (a_catalog(1), a_catalog(2), a_catalog(1, user_id="bob")):
        catalogs.open(each)
    return FeedbackKeeping(catalogs=catalogs, book=FakeFeedback())


def test_the_newest_comes_first_and_the_oldest_leave(feedback: FeedbackKeeping) -> None:
    feedback.keep(a_feedback(user_id="bob"))

    for number in range(MOST_KEPT + 2):
        feedback.keep(a_feedback(number))

    found = feedback.of_user("alice")
    assert found == [a_feedback(number) for number in reversed(range(2, MOST_KEPT + 2))]
    agents = a_feedback().model_copy(
        update={"origin": FeedbackOrigin.TOOL, "at": NOW - timedelta(days=1)}
    )
    feedback.keep(agents)
    assert feedback.of_user("alice") == [*found, agents]
    assert feedback.of_user("bob") == [a_feedback(user_id="bob")]


def test_feedback_of_a_catalog_includes_feedback_without_a_catalog(
    feedback: FeedbackKeeping,
) -> None:
    one, other = a_catalog(1).catalog_id, a_catalog(2).catalog_id
    for number, catalog_id in enumerate((one, other, None)):
        feedback.keep(a_feedback(number, catalog_id=catalog_id))

    found = feedback.of_user("alice", catalog_id=one)

    assert [each.catalog_id for each in found] == [None, one]
    assert len(feedback.of_user("alice")) == 3


@pytest.mark.parametrize("catalog_id", ["cat-bob-1", "cat-nobody-1"])
def test_feedback_on_another_users_catalog_is_refused(
    feedback: FeedbackKeeping, catalog_id: str
) -> None:
    with pytest.raises(CatalogNotFound):
        feedback.keep(a_feedback(catalog_id=catalog_id))
    with pytest.raises(CatalogNotFound):
        feedback.of_user("alice", catalog_id=catalog_id)

    assert feedback.of_user("alice") == []
