"""Users' usage, in memory, and the meter of their questions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.model.caps import CapWatch
from stackroom.model.questions import QuestionMeter
from stackroom.model.usage import Call, Used, UsedBy, month_of
from tests.fakes.caps import FakeCaps
from tests.fakes.disturbed import Disturbed


@dataclass
class FakeUsage(Disturbed):
    kept: dict[tuple[str, str, str, str], Used] = field(default_factory=dict)
    calls: dict[tuple[str, str, str, str], set[Call]] = field(default_factory=dict)

    def add(
        self,
        user_id: str,
        catalog_id: str,
        used: Used,
        *,
        at: datetime,
        model: str = "",
        call: Call | None = None,
    ) -> None:
        key = (month_of(at), user_id, catalog_id, model)
        if call is not None:
            told = self.calls.setdefault(key, set())
            if call in told:
                return
            self.calls[key] = {each for each in told if each.round_id == call.round_id} | {call}
        self.kept[key] = self.kept.get(key, Used()) + used

    def of_month(
        self, month: str, *, user_id: str | None = None, after: str | None = None
    ) -> Iterable[UsedBy]:
        for (there, user, catalog_id, model), used in sorted(
            self.kept.items(), key=lambda it: it[0]
        ):
            if there == month and user_id in (None, user) and (after is None or user > after):
                yield UsedBy(user_id=user, catalog_id=catalog_id, model=model, used=used)


def a_meter(
    usage: FakeUsage | None = None,
    caps: FakeCaps | None = None,
    *,
    now: Callable[[], datetime] = utc_now,
) -> QuestionMeter:
    book = caps or FakeCaps()
    return QuestionMeter(usage=usage or FakeUsage(), book=book, watch=CapWatch(book=book), now=now)
