"""The ledger of turns in memory."""

from dataclasses import dataclass, field, replace

from stackroom.errors import RecordChanged
from stackroom.search.rate_limiter import Turns


@dataclass
class FakeTurnBook:
    """A `TurnBook`; `failure` is raised instead, `calls` are reads and writes in their order."""

    turns: Turns = field(default_factory=Turns)
    failure: Exception | None = None
    calls: list[str] = field(default_factory=list)

    def read(self) -> Turns:
        self._called("read")
        return self.turns

    def write(self, turns: Turns) -> Turns:
        self._called("write")
        if turns.version != self.turns.version:
            raise RecordChanged("the turns")
        self.turns = replace(turns, version=turns.version + 1)
        return self.turns

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if self.failure is not None:
            raise self.failure
