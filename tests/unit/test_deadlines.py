"""A deadline: what is left of it, and that nothing is begun behind it."""

import math

import pytest

from stackroom.deadlines import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseUnavailable


def test_a_deadline_to_come_lets_calls_begin_and_tells_what_is_left() -> None:
    deadline = Deadline.after(3600)

    deadline.check("Retrieve")

    assert not deadline.has_passed
    assert 0 < deadline.left() <= 3600


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_deadline_that_has_passed_names_what_was_to_be_called(seconds: float) -> None:
    deadline = Deadline.after(seconds)

    with pytest.raises(KnowledgeBaseUnavailable, match="Retrieve answered DeadlinePassed"):
        deadline.check("Retrieve")
    assert (deadline.has_passed, deadline.left()) == (True, 0)


def test_without_a_deadline_there_is_all_the_time() -> None:
    NO_DEADLINE.check("Retrieve")

    assert NO_DEADLINE.left() == math.inf
