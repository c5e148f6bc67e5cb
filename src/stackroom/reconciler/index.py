"""
What the knowledge bases list against the records, both ways, whatever their number.

A data source lists its documents in an order of its own, and a CUSTOM one by our ids alone, which
don't tell the catalog. So both sides are read once, a sketch of them tells the ids on which they
differ (stackroom.reconciler.set_reconciliation), and these are looked at again by themselves before
anything is done: both sides go on changing meanwhile.

What Bedrock failed or ignored stays in the listing, and its record is as a rule `failed`, too; of
those, as many as fit are looked at again each time.
"""

from dataclasses import dataclass

from stackroom.ports.inventory import ListingExpired
from stackroom.reconciler.discrepancies import Discrepancy, Step
from stackroom.reconciler.listings import Inhabited, Listings, Unlisted, where
from stackroom.reconciler.places import Place, Reading
from stackroom.reconciler.readings import Readings, Reread
from stackroom.reconciler.recheck import Recheck

# Nobody documents for how long a listing's nextToken holds; one of five million documents takes an
# hour and a half. One that never lasts is given up.
_MOST_EXPIRED = 3


@dataclass(frozen=True, kw_only=True)
class IndexAudit:
    listings: Listings
    readings: Readings
    recheck: Recheck

    def step(self, cursor: str | None) -> Step:
        at = Place.model_validate_json(cursor) if cursor else Place()
        try:
            there = self.listings.next(at)
        except Unlisted as unlisted:
            yield Discrepancy.not_compared(unlisted.what, unlisted.__cause__ or unlisted)
            there = None
        following = (
            self.listings.following(at)
            if there is None
            else (yield from self._of_source(self._here(at, there), there))
        )
        return following.model_dump_json(exclude_defaults=True) if following is not None else None

    def _here(self, at: Place, there: Inhabited) -> Place:
        """From its start, if it is another data source than the one that was being read."""
        source = there.source.data_source_id
        return at if at.source == source else self.readings.begun(at.past(at.after), source)

    def _of_source(self, at: Place, there: Inhabited) -> Reread:
        past = at.past(there.source.data_source_id)
        try:
            following = yield from self._read(at, there)
        except Unlisted as unlisted:
            yield Discrepancy.not_compared(unlisted.what, unlisted.__cause__ or unlisted)
            return past
        except ListingExpired as expired:
            if at.expired < _MOST_EXPIRED:
                return self.readings.again(at)
            yield Discrepancy.not_compared(where(there.source), expired)
            return past
        if following is None and at.share + 1 < at.of:
            return self.readings.begun(at, there.source.data_source_id, share=at.share + 1)
        return following or past

    def _read(self, at: Place, there: Inhabited) -> Reread:
        match at.reading:
            case Reading.LISTING:
                return (yield from self.readings.listed(at, there))
            case Reading.RECORDS:
                return (yield from self.readings.recorded(at, there))
            case Reading.SUSPECTS:
                return (yield from self.recheck.met(at, there))
            case Reading.REST:
                return (yield from self.recheck.rest(at, there))
