"""
The direct calls that a run may have at work at a time: its grant, kept, grown and given up.

How many, admission says (stackroom.admission), and who waits; a large document among them is told
there, since no job of the knowledge base begins before it ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.admission.admission import Admission
from stackroom.clock import Pace
from stackroom.model import Document
from stackroom.ports.admission import Grant

# Seconds on AWS.
_GROWING = 1.0  # between two looks whether the run may have more calls
_EXTENDING = 5.0  # and whether it is to have fewer, for others
SPARE = 2  # calls that a run asks for beyond what it needs now


@dataclass(kw_only=True)
class Lanes:
    """`grant` is None once others have it."""

    grant: Grant | None
    admission: Admission
    pace: Pace
    now: Callable[[], datetime]
    _extended_at: datetime | None = None
    _no_large_before: datetime | None = None

    @property
    def slots(self) -> int:
        return 0 if self.grant is None else self.grant.slots

    def grow(self, needed: int) -> None:
        """May there be more than those at work? `needed` are the calls that the run could use."""
        if self._is_time(_GROWING):
            self.extend(needed)

    def go_on(self, needed: int) -> bool:
        """Before another call: a job may have become due since the grant was looked at."""
        if self.grant is not None:
            since = self._extended_at or self.grant.granted_at
            if self.now() - since >= self._time(_EXTENDING):
                self.extend(needed)
        return self.grant is not None

    def spare(self, needed: int) -> None:
        """Give others what the run has not needed for a while."""
        if self.slots > needed + SPARE and self._is_time(_EXTENDING):
            self.extend(needed)

    def extend(self, needed: int) -> None:
        """More, if nobody else wants them; none if others are due."""
        if self.grant is not None:
            self._extended_at = self.now()
            self.grant = self.admission.extend(self.grant, calls=needed + SPARE)

    def begin_large(self, document: Document, *, at_work: int) -> bool:
        """Whether it may be begun; `at_work` are the large ones that are, at most half of all."""
        if self.grant is None or 2 * at_work >= self.grant.slots:
            return False
        if self._no_large_before is not None and self.now() < self._no_large_before:
            return False
        granted = self.admission.begin_large(self.grant, since=document.updated_at)
        if granted is None:
            self._no_large_before = self.now() + self._time(_EXTENDING)
            return False
        self.grant = granted
        return True

    def end_large(self) -> None:
        if self.grant is not None:
            self.grant = self.admission.end_large(self.grant)

    def _is_time(self, seconds: float) -> bool:
        since = self._extended_at
        return since is None or self.now() - since >= self._time(seconds)

    def _time(self, seconds: float) -> timedelta:
        return timedelta(seconds=self.pace.here(seconds))
