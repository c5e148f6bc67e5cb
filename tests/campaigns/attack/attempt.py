"""One attempt, and what may come of it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tests.campaigns.attack.wire import Answer


class May(StrEnum):
    """Nothing of the victim's may be in an answer, whatever it is."""

    BE_REFUSED = "be refused"  # and nothing else
    ANSWER_OWN = "answer with what is the attacker's own"


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """`name` says what is tried; `tool` is the one it is tried on, or what else it goes through."""

    kind: str
    tool: str
    name: str
    act: Callable[[], Answer]
    may: May = May.BE_REFUSED
