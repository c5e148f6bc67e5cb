"""
Count users' questions, and refuse them once the month's dollars are spent.

Neither may cost a question time or an answer: what was spent is looked up once a minute, and a
failure to count or look up is logged while the question is answered.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from stackroom.clock import utc_now
from stackroom.errors import LimitExceeded
from stackroom.model.caps import CapBook, Caps, CapWatch, InUse, caps_of, format_dollars
from stackroom.model.usage import NO_CATALOG, UsageBook, Used, month_of, next_month

logger = logging.getLogger(__name__)

_KEPT = timedelta(minutes=1)
_MOST = 1_000  # users


@dataclass(frozen=True, kw_only=True)
class QuestionMeter:
    """Counts questions. `known` caches what was looked up, and until when."""

    usage: UsageBook
    book: CapBook
    watch: CapWatch
    now: Callable[[], datetime] = utc_now
    known: dict[str, tuple[datetime, Any]] = field(default_factory=dict)

    def require_room(self, user_id: str) -> None:
        """Raises LimitExceeded."""
        try:
            caps = caps_of(user_id, self._known("", self.book.all))
            if caps is None or caps.dollars is None:
                return
            spent: float = self._known(user_id, lambda: self._spent(user_id, caps))
        except Exception as error:
            logger.error("what was spent was not read", extra={"error": type(error).__name__})
            return
        if spent >= caps.dollars:
            spent_text, cap = (format_dollars(each, caps.dollars) for each in (spent, caps.dollars))
            raise LimitExceeded(spent_text, cap, next_month(self.now()))

    def count(
        self, user_id: str, used: Used, *, catalog_id: str | None = None, model: str = ""
    ) -> None:
        """Add a question after its answer; one to several catalogs has no `catalog_id`."""
        try:
            catalog_id = catalog_id or NO_CATALOG
            self.usage.add(user_id, catalog_id, used, at=self.now(), model=model)
        except Exception as error:
            # Whatever it is, the answer is there.
            logger.error("a question was not counted", extra={"error": type(error).__name__})

    def _known(self, key: str, read: Callable[[], Any]) -> Any:
        now = self.now()
        there = self.known.get(key)
        if there is not None and now < there[0]:
            return there[1]
        if len(self.known) >= _MOST:
            self.known.clear()
        found = read()
        self.known[key] = (now + _KEPT, found)
        return found

    def _spent(self, user_id: str, caps: Caps) -> float:
        at = self.now()
        months = self.usage.of_month(month_of(at), user_id=user_id)
        spent = sum(each.dollars for each in months)
        only_dollars = Caps(dollars=caps.dollars)
        self.watch.check(user_id, only_dollars, InUse(dollars=spent), at=at)
        return spent
