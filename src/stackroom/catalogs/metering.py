"""Users' current and monthly usage, with their caps, for users and operators."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice

from stackroom.clock import utc_now
from stackroom.model.caps import CapBook, Caps, InUse, caps_of
from stackroom.model.records import Catalog
from stackroom.model.repositories import Catalogs
from stackroom.model.usage import NO_CATALOG, UsageBook, Used, UsedBy, month_of, next_month, total

USERS = 50  # on a page


@dataclass(frozen=True, kw_only=True)
class CatalogMonth:
    """
    A catalog's month. `catalog` is its present record: None if it is gone, and for questions to
    several catalogs, whose id is NO_CATALOG. `used` and `dollars` are the month's.
    """

    catalog_id: str
    catalog: Catalog | None
    used: Used
    dollars: float


@dataclass(frozen=True, kw_only=True)
class UserMonth:
    """
    A user's month.

    `catalogs` are those that exist and those that were used; `used` and `dollars` are their sums.
    `in_use` is the present use that counts against the caps on documents and bytes, and `waiting`
    documents are over a cap. `month_ends` is when the cap on dollars starts anew.
    """

    user_id: str
    month: str
    catalogs: tuple[CatalogMonth, ...]
    in_use: InUse
    waiting: int
    caps: Caps
    month_ends: str

    @property
    def used(self) -> Used:
        return total(each.used for each in self.catalogs)

    @property
    def dollars(self) -> float:
        return sum(each.dollars for each in self.catalogs)


@dataclass(frozen=True, kw_only=True)
class MonthPage:
    """A page of users. `next` is the user after whom it goes on, if it does."""

    month: str
    users: tuple[UserMonth, ...]
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Metering:
    usage: UsageBook
    book: CapBook
    catalogs: Catalogs
    now: Callable[[], datetime] = utc_now

    def of_user(self, user_id: str, month: str | None = None) -> UserMonth:
        """Return the user's figures for this month, or for a given one such as `2026-11`."""
        month = month or month_of(self.now())
        found = self.usage.of_month(month, user_id=user_id)
        return self._user_month(user_id, month, found, caps_of(user_id, self.book.all()))

    def page(self, month: str | None = None, *, after: str | None = None) -> MonthPage:
        """Return a page of the users who used anything in the month, by their ids."""
        month = month or month_of(self.now())
        found = self.usage.of_month(month, after=after)
        by_user = ((user, list(used)) for user, used in groupby(found, lambda each: each.user_id))
        shown = list(islice(by_user, USERS + 1))
        caps = self.book.all()
        users = tuple(
            self._user_month(user_id, month, used, caps_of(user_id, caps))
            for user_id, used in shown[:USERS]
        )
        return MonthPage(
            month=month,
            users=users,
            next=users[-1].user_id if len(shown) > USERS else None,
        )

    def _user_month(
        self, user_id: str, month: str, found: Iterable[UsedBy], caps: Caps | None
    ) -> UserMonth:
        there = {each.catalog_id: each for each in self.catalogs.of_user(user_id)}
        by_catalog: dict[str, list[UsedBy]] = {each: [] for each in there}
        for used in found:
            by_catalog.setdefault(used.catalog_id, []).append(used)

        def order(catalog_id: str) -> tuple[bool, bool, str]:
            named = there.get(catalog_id)
            name = named.name.casefold() if named else ""
            return (catalog_id == NO_CATALOG, named is None, name)

        return UserMonth(
            user_id=user_id,
            month=month,
            catalogs=tuple(
                CatalogMonth(
                    catalog_id=each,
                    catalog=there.get(each),
                    used=total(one.used for one in by_catalog[each]),
                    dollars=sum(one.dollars for one in by_catalog[each]),
                )
                for each in sorted(by_catalog, key=order)
            ),
            in_use=InUse.of(there.values()),
            waiting=sum(each.over_count for each in there.values()),
            caps=caps or Caps(),
            month_ends=next_month(self.now()),
        )
