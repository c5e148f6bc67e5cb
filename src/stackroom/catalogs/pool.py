"""Each knowledge base of the pool: its slots, the runs at work, and those that wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stackroom.documents.model import PoolMember
from stackroom.quota.capacity import capacity_of
from stackroom.quota.ledger import AdmissionReader, Grant, Mode, Waiter
from stackroom.runs.data_sources import SlotReader

LOOKED_AT = 1000  # of those that wait in a queue


@dataclass(frozen=True, kw_only=True)
class MemberStanding:
    """
    `holders` are the catalogs with a data source of their own; of the slots `taken` some may be
    lost. `waiting` are the first `LOOKED_AT` of either queue, the oldest first.
    """

    member: PoolMember
    holders: frozenset[str]
    taken: int
    running: tuple[Grant, ...]
    waiting: Mapping[Mode, tuple[Waiter, ...]]

    @property
    def most(self) -> int:
        return capacity_of(self.member).own_sources

    @property
    def lost(self) -> int:
        return max(0, self.taken - len(self.holders))


@dataclass(frozen=True, kw_only=True)
class Pool:
    members: Sequence[PoolMember]
    slots: SlotReader
    book: AdmissionReader

    def look(self) -> tuple[MemberStanding, ...]:
        grants = self.book.read().grants
        return tuple(self._standing(each, grants) for each in self.members)

    def _standing(self, member: PoolMember, grants: Sequence[Grant]) -> MemberStanding:
        here = member.knowledge_base_id
        return MemberStanding(
            member=member,
            holders=self.slots.holders(here),
            taken=self.slots.taken(here),
            running=tuple(each for each in grants if each.knowledge_base_id == here),
            waiting={mode: tuple(self.book.waiting(here, mode, limit=LOOKED_AT)) for mode in Mode},
        )
