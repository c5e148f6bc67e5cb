"""The model that a soak is held to."""

from tests.soak.model import ABSENT, Content, Model

FIRST, SECOND = Content("etag 1", "first"), Content("etag 2", "second")


def test_what_was_acknowledged_must_be_there() -> None:
    model = Model()
    model.acknowledged("a", FIRST)

    assert model.read_back("a", None) == "bucket: 'a' must hold first, and holds nothing"
    assert model.read_back("a", "etag 1") is None


def test_what_was_not_answered_may_be_there_or_not_until_it_is_read_back() -> None:
    model = Model()
    model.acknowledged("a", FIRST)
    model.unanswered("a", SECOND)

    was_doubtful = model.is_doubtful("a")
    seen = model.read_back("a", "etag 2")

    assert was_doubtful
    assert seen is None
    assert model.holds("a") == SECOND
    assert model.read_back("a", "etag 1") == "bucket: 'a' must hold second, and holds etag 1"


def test_an_unanswered_deletion_leaves_the_file_or_nothing() -> None:
    model = Model()
    model.acknowledged("a", FIRST)
    model.unanswered("a", ABSENT)

    seen = model.read_back("a", None)

    assert seen is None
    assert model.under("") == []


def test_a_third_content_is_wrong_even_where_two_are_possible() -> None:
    model = Model()
    model.unanswered("a", FIRST)

    told = model.read_back("a", "etag 2")

    assert told == "bucket: 'a' must hold nothing or first, and holds etag 2"


def test_a_key_that_nobody_used_must_hold_nothing() -> None:
    assert Model().read_back("a", None) is None
    assert Model().read_back("a", "etag 1") is not None
