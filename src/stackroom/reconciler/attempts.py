"""Doing with keys what their events would have done, and looking whether that was all."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from stackroom.errors import RecordChanged, is_everybodys
from stackroom.runs.run_requests import RunRequests
from stackroom.uploads.plan import Plan
from stackroom.uploads.reconcile import Uploads

# Each reconciliation of a key is a handful of calls one after another; boto3's pool has ten
# connections.
AT_ONCE = 8

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """
    What was done about a key, or would be, and what there was to do after that; `error` if any of
    it failed. No `first` if others kept writing the record: it is in good hands.
    """

    first: Plan | None = None
    again: Plan | None = None
    error: Exception | None = None

    @property
    def runs(self) -> set[str]:
        """The catalogs that need a run after it."""
        plans = (each for each in (self.first, self.again) if each is not None)
        return {catalog_id for plan in plans for catalog_id in runs_after(plan)}


@dataclass(frozen=True, kw_only=True)
class Attempts:
    """In a dry run each is the plan alone. `at_once` is 1 for no threads."""

    uploads: Uploads
    requests: RunRequests
    dry_run: bool
    at_once: int

    def at(self, keys: list[str]) -> list[Attempt]:
        """In their order; what fails with one key, or one catalog's run, is in its attempt."""
        attempts = self._all(keys)
        unasked = self._ask({catalog_id for each in attempts for catalog_id in each.runs})
        return [
            replace(each, error=each.error or unasked[min(failed)])
            if (failed := each.runs & unasked.keys())
            else each
            for each in attempts
        ]

    def _all(self, keys: list[str]) -> list[Attempt]:
        if self.at_once == 1:
            return list(map(self._one, keys))
        with ThreadPoolExecutor(self.at_once) as workers:
            return list(workers.map(self._one, keys))

    def _one(self, key: str) -> Attempt:
        first = again = None
        try:
            if self.dry_run:
                return Attempt(first=self.uploads.plan(key))
            first = again = self.uploads.reconcile(key, is_audit=True)
            if first.changes_records:
                again = self.uploads.reconcile(key, is_audit=True)
        except RecordChanged:
            return Attempt()
        except Exception as error:
            if is_everybodys(error):
                raise
            return Attempt(first=first, error=error)
        return Attempt(first=first, again=again)

    def _ask(self, catalog_ids: Iterable[str]) -> dict[str, Exception]:
        """The catalogs that no run could be asked for, and why."""
        failed: dict[str, Exception] = {}
        for catalog_id in () if self.dry_run else catalog_ids:
            try:
                self.requests.ask(catalog_id)
            except Exception as error:
                if is_everybodys(error):
                    raise
                failed[catalog_id] = error
        return failed


def runs_after(plan: Plan) -> set[str]:
    """
    The catalog that needs a run, if any. One that is opened again needs its data source, whether or
    not a document needs a run.
    """
    opened = plan.opens.catalog_id if plan.opens is not None else None
    return {catalog_id for catalog_id in (plan.run_for, opened) if catalog_id is not None}


def chunks(items: Iterable[T], *, of: int) -> Iterator[list[T]]:
    remaining = iter(items)
    yield from iter(lambda: list(islice(remaining, of)), [])
