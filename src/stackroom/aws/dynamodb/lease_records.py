"""
Leases of live runs in the control table: one item per catalog.

    pk RUN#<worklist_id>, sk RUN
    requested   how often a run was asked for
    epoch       of the latest lease; names the execution, fences its writes
    live        "RUN" while a run is live; the attribute is absent otherwise
    started     1 once the run's first task has come, or StartExecution has answered for it
    until       ISO 8601, UTC, of one width; when the lease expires unless renewed
    failures    runs in a row that broke

    list the held, or the expired    Query live-index: PK live, SK until; only what is held is in it
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from stackroom.aws.dynamodb.items import Item, instant, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.errors import RunSuperseded
from stackroom.runs.run_leases import Lease, WorklistEntry

_LIVE = "RUN"
_LIVE_INDEX = "live-index"
_MINE = "live = :live AND epoch = :epoch"


class DynamoLeases(DynamoTable):
    def get(self, worklist_id: str) -> Lease | None:
        kept = self._get(_key(worklist_id))
        return None if kept is None else _to_lease(kept)

    def ask(self, worklist_id: str) -> Lease:
        asked = self._change(worklist_id, "ADD requested :one", {":one": 1})
        assert asked is not None, "nothing is asked of the item"
        return asked

    def claim(self, worklist_id: str, *, until: datetime) -> Lease | None:
        return self._change(
            worklist_id,
            "ADD requested :one, epoch :one SET live = :live, #until = :until"
            " REMOVE started, failures",
            {":one": 1, ":live": _LIVE, ":until": instant(until)},
            condition="attribute_not_exists(live)",
        )

    def take(
        self, seen: Lease, *, until: datetime, failures: int, epoch: int | None = None
    ) -> Lease | None:
        values = {
            ":live": _LIVE,
            ":next": seen.epoch + 1 if epoch is None else epoch,
            ":until": instant(until),
            ":failures": failures,
        }
        unmoved = "attribute_not_exists(epoch)"
        if seen.epoch:
            unmoved = "epoch = :epoch AND " + (
                "live = :live" if seen.held else "attribute_not_exists(live)"
            )
            values[":epoch"] = seen.epoch
        return self._change(
            seen.worklist_id,
            "SET live = :live, epoch = :next, #until = :until, failures = :failures REMOVE started",
            values,
            condition=unmoved,
        )

    def mark_started(self, lease: Lease) -> None:
        """Mark the run as started; does nothing if it was so quick that it has ended already."""
        self._change(
            lease.worklist_id,
            "SET started = :one",
            {":one": 1, ":live": _LIVE, ":epoch": lease.epoch},
            condition=_MINE,
        )

    def renew(
        self, worklist_id: str, epoch: int, *, until: datetime, is_well: bool = False
    ) -> Lease:
        renewed = self._change(
            worklist_id,
            f"SET #until = :until, started = :one{' REMOVE failures' if is_well else ''}",
            {":one": 1, ":live": _LIVE, ":epoch": epoch, ":until": instant(until)},
            condition=_MINE,
        )
        if renewed is None:
            raise RunSuperseded(worklist_id, epoch)
        return renewed

    def release(self, worklist_id: str, epoch: int, *, served: int) -> bool:
        released = self._change(
            worklist_id,
            "REMOVE live, started, #until, failures",
            {":live": _LIVE, ":epoch": epoch, ":served": served},
            condition=f"{_MINE} AND requested = :served",
        )
        return released is not None or self._was_released(worklist_id, epoch)

    def held(self) -> Iterator[Lease]:
        return self._live("live = :live", {":live": _LIVE})

    def expired(self, at: datetime) -> Iterator[Lease]:
        return self._live(
            "live = :live AND #until < :at",
            {":live": _LIVE, ":at": instant(at)},
            ExpressionAttributeNames={"#until": "until"},
        )

    def _live(self, condition: str, values: dict[str, Any], **names: Any) -> Iterator[Lease]:
        # An index lags behind. One that is missing is found the next time; one that has moved can't
        # be taken by whoever saw it here.
        found = self._query(condition, values, IndexName=_LIVE_INDEX, **names)
        return readable(found, _to_lease)

    def _was_released(self, worklist_id: str, epoch: int) -> bool:
        """Return True if the release was already done: a task whose answer got lost is retried."""
        lease = self.get(worklist_id)
        if lease is None or lease.epoch != epoch:
            raise RunSuperseded(worklist_id, epoch)
        return not lease.held

    def _change(
        self, worklist_id: str, expression: str, values: dict[str, Any], *, condition: str = ""
    ) -> Lease | None:
        found = self._update(_key(worklist_id), expression, values, condition=condition)
        return _to_lease(found) if found is not None else None


def _key(worklist_id: str) -> Item:
    return to_item({"pk": f"RUN#{worklist_id}", "sk": "RUN"})


def _to_lease(values: Mapping[str, Any]) -> Lease:
    lease = Lease(
        worklist_id=values["pk"].removeprefix("RUN#"),
        requested=int(values.get("requested", 0)),
        epoch=int(values.get("epoch", 0)),
        held="live" in values,
        started="started" in values,
        failures=int(values.get("failures", 0)),
    )
    if not lease.held:
        return lease
    until = datetime.fromisoformat(values["until"])
    if until.tzinfo is None:
        raise ValueError("a time without its zone")
    return replace(lease, until=until)


# Catalogs of a shared data source that have open documents: one item each in the control table.
#
#     pk WORKLIST#<worklist_id>, sk <catalog_id>
#     stamp   changes with each request for the catalog
#
#     request a catalog      UpdateItem
#     list catalogs          Query, consistent
#     finish one             DeleteItem if its stamp is unchanged since it was read

_WORKLIST = "WORKLIST#"  # its id follows


class DynamoWorklists(DynamoTable):
    def add(self, worklist_id: str, catalog_id: str) -> None:
        self._keep(_entry_key(worklist_id, catalog_id) | to_item({"stamp": secrets.token_hex(8)}))

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        start: dict[str, Any] = (
            {"ExclusiveStartKey": _entry_key(worklist_id, after)} if after else {}
        )
        found = self._partition(_WORKLIST + worklist_id, Limit=limit, **start)
        return islice(readable(found, _to_entry), limit)

    def remove_if_unchanged(self, worklist_id: str, entry: WorklistEntry) -> bool:
        return self._delete(
            _entry_key(worklist_id, entry.catalog_id),
            condition="stamp = :stamp",
            values={":stamp": entry.stamp},
        )


def _to_entry(values: Mapping[str, Any]) -> WorklistEntry:
    return WorklistEntry(catalog_id=values["sk"], stamp=values["stamp"])


def _entry_key(worklist_id: str, catalog_id: str) -> Item:
    return to_item({"pk": _WORKLIST + worklist_id, "sk": catalog_id})


# Slots for catalogs' own data sources, counted in the control table: one item per knowledge base.
#
#     pk SLOTS#<knowledge_base_id>, sk SLOTS
#     catalogs    string set of the catalogs that hold one
#     sharing     number of catalogs that joined its shared data source; those that left count, too


class DynamoSlots(DynamoTable):
    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool:
        if catalog_id in self.holders(knowledge_base_id):
            return True
        if limit < 1:  # where nobody has one yet, the condition doesn't ask for it
            return False
        taken = self._change(
            knowledge_base_id,
            "ADD catalogs :catalog",
            {":catalog": {catalog_id}, ":limit": limit},
            "attribute_not_exists(catalogs) OR size(catalogs) < :limit",
        )
        return taken or catalog_id in self.holders(knowledge_base_id)

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None:
        return next((each for each in knowledge_base_ids if catalog_id in self.holders(each)), None)

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        return frozenset(self._item(knowledge_base_id).get("catalogs", ()))

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        self._change(knowledge_base_id, "DELETE catalogs :catalog", {":catalog": {catalog_id}})

    def sharing(self, knowledge_base_id: str) -> int:
        return int(self._item(knowledge_base_id).get("sharing", 0))

    def count_sharing(self, knowledge_base_id: str) -> None:
        self._change(knowledge_base_id, "ADD sharing :one", {":one": 1})

    def _item(self, knowledge_base_id: str) -> dict[str, Any]:
        return self._get(_slots_key(knowledge_base_id)) or {}

    def _change(
        self, knowledge_base_id: str, expression: str, values: dict[str, Any], condition: str = ""
    ) -> bool:
        """Update the item; return False if it doesn't meet the condition."""
        key = _slots_key(knowledge_base_id)
        return self._update(key, expression, values, condition=condition) is not None


def _slots_key(knowledge_base_id: str) -> Item:
    return to_item({"pk": f"SLOTS#{knowledge_base_id}", "sk": "SLOTS"})
