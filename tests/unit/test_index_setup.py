"""An index is prepared for search by words before anybody searches."""

from dataclasses import replace

import pytest

from stackroom.errors import ServiceRefused, StackroomError, StoreUnavailable
from stackroom.search.index_setup import (
    IndexSetup,
    IndexState,
    Readiness,
    SearchIndexBusy,
    readiness_of,
)
from tests.fakes.search_index import BUCKET, INDEX, FakeSearchIndexes

BUSY = SearchIndexBusy(INDEX)


def prepare(
    indexes: FakeSearchIndexes, language: str | None = "en", *, tries: int = 5
) -> IndexState:
    """`tries` is for how often there is time."""
    pauses: list[int] = []
    setup = IndexSetup(indexes=indexes, pause=pauses.append)
    return setup.prepare(
        INDEX, bucket=BUCKET, language=language, has_time=lambda: len(pauses) + 1 < tries
    )


@pytest.mark.parametrize(
    ("before", "language", "changes"),
    [
        (FakeSearchIndexes(), "en", ["add"]),
        (FakeSearchIndexes(is_enhanced=False), "en", ["enhance", "add"]),
        (FakeSearchIndexes(text_search=Readiness.BUILDING, language="en"), "en", []),
        (FakeSearchIndexes(text_search=Readiness.ACTIVE, language="en"), "en", []),
        (FakeSearchIndexes(text_search=Readiness.ACTIVE, language="de"), "en", ["remove", "add"]),
        (FakeSearchIndexes(text_search=Readiness.ACTIVE), "en", ["remove", "add"]),
        (FakeSearchIndexes(text_search=Readiness.ACTIVE, language="en"), None, ["remove", "add"]),
    ],
)
def test_index_setup_makes_only_missing_changes(
    before: FakeSearchIndexes, language: str | None, changes: list[str]
) -> None:
    indexes = replace(before, changes=[])

    state = prepare(indexes, language)
    again = prepare(indexes, language)

    assert indexes.changes == changes
    assert state == again == indexes.state(INDEX)
    assert (state.is_enhanced, state.language) == (True, language)
    assert state.readiness is not Readiness.MISSING
    assert indexes.bucket_is_enhanced


@pytest.mark.parametrize(
    "error",
    [BUSY, StoreUnavailable("GetIndex", "503"), ServiceRefused("GetIndex", "AccessDenied")],
)
def test_transient_index_state_is_waited_for_without_repeating_steps(error: StackroomError) -> None:
    indexes = FakeSearchIndexes(text_search=Readiness.ACTIVE, language="de")
    remove = indexes.remove_text_search

    def remove_and_then_fail(index: str) -> None:
        remove(index)
        indexes.errors = [error, error]

    indexes.remove_text_search = remove_and_then_fail  # type: ignore[method-assign]

    prepare(indexes)

    assert indexes.changes == ["remove", "add"]
    assert indexes.language == "en"


def test_the_error_is_raised_when_the_time_is_up() -> None:
    indexes = FakeSearchIndexes(errors=[BUSY] * 3)

    with pytest.raises(SearchIndexBusy):
        prepare(indexes, tries=3)

    assert indexes.errors == []


@pytest.mark.parametrize(
    "error", [StoreUnavailable("GetIndex", "503"), ServiceRefused("GetIndex", "AccessDenied")]
)
def test_undescribable_index_has_an_unknown_state(
    error: StackroomError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_index: str) -> IndexState:
        raise error

    indexes = FakeSearchIndexes()
    monkeypatch.setattr(indexes, "state", fail)

    assert readiness_of(indexes, [INDEX]) == {INDEX: None}


def test_a_change_that_was_accepted_and_shows_later_is_waited_for() -> None:
    indexes = FakeSearchIndexes(is_enhanced=False)
    enhance = indexes.enhance
    asked: list[str] = []

    def enhance_late(index: str) -> None:
        asked.append(index)
        if len(asked) > 1:
            enhance(index)

    indexes.enhance = enhance_late  # type: ignore[method-assign]

    assert prepare(indexes).readiness is Readiness.BUILDING
