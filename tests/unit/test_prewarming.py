"""Questions that are asked to keep knowledge bases warm."""

import pytest

from stackroom.access.tenancy import USER, Nobody
from stackroom.documents.filters import Has
from stackroom.documents.keys import is_user_id
from stackroom.errors import KnowledgeBaseThrottled, RetrievalFailed
from stackroom.search.prewarming import Prewarming
from tests.fakes.knowledge_base import FakeKnowledgeBase


def test_prewarming_asks_each_knowledge_base_as_nobody() -> None:
    pool = {"KB1": FakeKnowledgeBase(), "KB2": FakeKnowledgeBase()}

    milliseconds = Prewarming(pool=pool).prewarm()

    assert list(milliseconds) == ["KB1", "KB2"]
    assert [each.filters for each in pool.values()] == [[Nobody().filter()]] * 2


def test_id_of_nobody_is_no_user_id() -> None:
    asked = Nobody().filter()

    assert isinstance(asked, Has)
    assert asked.key == USER
    assert not is_user_id(str(asked.value))


def test_prewarming_failure_is_raised_after_all_were_asked() -> None:
    broken = FakeKnowledgeBase(failure=KnowledgeBaseThrottled("Retrieve"))
    pool = {"KB1": broken, "KB2": FakeKnowledgeBase()}

    with pytest.raises(RetrievalFailed, match="not pre-warmed: KB1: Retrieve") as raised:
        Prewarming(pool=pool).prewarm()

    assert list(raised.value.failures) == ["KB1"]
    assert pool["KB2"].filters == [Nobody().filter()]
