"""What every `Bookmark` promises."""

import pytest

from stackroom.aws.bookmark import DynamoBookmark
from stackroom.ports.inventory import Bookmark
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.inventory import FakeBookmark


@pytest.fixture(params=["fake", "dynamodb"])
def bookmark(request: pytest.FixtureRequest) -> Bookmark:
    if request.param == "fake":
        return FakeBookmark()
    return DynamoBookmark(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_there_is_no_cursor_before_one_was_kept(bookmark: Bookmark) -> None:
    assert bookmark.read() is None


def test_the_last_cursor_is_kept(bookmark: Bookmark) -> None:
    bookmark.keep("here")
    bookmark.keep("there")

    assert bookmark.read() == "there"


def test_a_bookmark_is_taken_out(bookmark: Bookmark) -> None:
    bookmark.keep("here")

    bookmark.keep(None)
    bookmark.keep(None)

    assert bookmark.read() is None
