"""Where the comparison of the knowledge bases stands, as the bookmark keeps it meanwhile."""

from collections.abc import Iterable
from enum import StrEnum

from pydantic import AwareDatetime

from stackroom.model import Record


class Reading(StrEnum):
    """What of a data source is being read, in this order; the last two only where it must be."""

    LISTING = "listing"  # all that it lists is put into a sketch
    RECORDS = "records"  # all records that it should list are taken out
    SUSPECTS = "suspects"  # what differs is looked for once more, on the other side
    REST = "rest"  # and what was not met there is looked at by itself


class Place(Record):
    """
    In that member of the pool, the data source after that one; of it, if it is `source`, this
    reading from `page` on, which began then. A sketch is of one `share` of its documents, of so
    many; `cells` are what has been put into it. `suspects` are ids that need a second look.
    """

    member: int = 0
    after: str = ""
    source: str | None = None
    reading: Reading = Reading.LISTING
    page: str | None = None
    began: AwareDatetime | None = None
    salt: str = ""
    share: int = 0
    of: int = 1
    cells: str | None = None
    suspects: tuple[str, ...] = ()
    expired: int = 0  # how often a listing of it had to begin anew

    def past(self, data_source_id: str) -> "Place":
        return Place(member=self.member, after=data_source_id)

    def looking(self, suspects: frozenset[str], at: AwareDatetime) -> "Place":
        """Where these are looked at again."""
        changes = {
            "reading": Reading.SUSPECTS,
            "page": None,
            "began": at,
            "cells": None,
            "suspects": tuple(sorted(suspects)),
        }
        return self.model_copy(update=changes)

    def looked(self, left: Iterable[str], page: str | None) -> "Place":
        """Where the second look goes on with those that it has not met yet."""
        reading = Reading.REST if page is None else self.reading
        changes = {"reading": reading, "page": page, "suspects": tuple(sorted(left))}
        return self.model_copy(update=changes)
