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


def test_the_last_cursor_is_kept_until_it_is_taken_out(bookmark: Bookmark) -> None:
    cursors = [bookmark.read()]

    for cursor in ("here", "there", None, None):
        bookmark.keep(cursor)
        cursors.append(bookmark.read())

    assert cursors == [None, "here", "there", None, None]
