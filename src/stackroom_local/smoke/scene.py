"""What the steps of a run share: who acts, what was made, and how one waits for something."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from stackroom.errors import StackroomError
from stackroom.model import Catalog, DataSource, Document, PoolMember
from stackroom_local.product import Product
from stackroom_local.sites.site import Site
from stackroom_local.smoke.people import Person, made

T = TypeVar("T")
CATALOG = "smoke"  # of the owner
_LOOK_SECONDS = 1.0  # on AWS, between two looks


class Verdict(StrEnum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_SEEN = "not seen"


@dataclass(frozen=True)
class Finding:
    """What a step says of an assumption, and what it saw."""

    assumption: str
    verdict: Verdict
    seen: str

    @classmethod
    def of(cls, assumption: str, seen: str, *, holds: bool) -> "Finding":
        return cls(assumption, Verdict.CONFIRMED if holds else Verdict.REFUTED, seen)


@dataclass(frozen=True)
class Told:
    """A step that went through: a line for people, and what it found of assumptions."""

    text: str
    findings: tuple[Finding, ...] = ()


class StepFailed(StackroomError):
    """Something is not as Stackroom promises it."""


class NotHere(StackroomError):
    """What the step looks at isn't there; the message says why."""


@dataclass(frozen=True)
class Names:
    """Of all that a run makes, so that whoever knows `run` can remove it."""

    run: str

    @property
    def owner(self) -> str:
        return f"stackroom-smoke-{self.run}-owner"

    @property
    def other(self) -> str:
        return f"stackroom-smoke-{self.run}-other"

    @property
    def group(self) -> str:
        return f"stackroom-smoke-{self.run}"

    @property
    def source(self) -> str:
        """Of the data source, and of the document that belongs to nobody."""
        return f"smoke-{self.run}"


@dataclass
class Scene:
    site: Site
    names: Names
    _owner: Person | None = None
    _other: Person | None = None
    catalog_id: str = ""
    files: dict[str, bytes] = field(default_factory=dict)  # as dropped, by name
    began: float = 0.0  # when all were dropped, by time.monotonic()
    measured: dict[str, float] = field(default_factory=dict)  # seconds

    def enter(self) -> None:
        self._owner = made(self.site, self.names.owner, self.names.group)
        self._other = made(self.site, self.names.other, self.names.group)

    @property
    def owner(self) -> Person:
        return _there(self._owner, "the users could not be made")

    @property
    def other(self) -> Person:
        return _there(self._other, "the users could not be made")

    @cached_property
    def product(self) -> Product:
        return Product(self.site)

    @property
    def catalog(self) -> Catalog:
        found = self.product.stores.catalogs.get(self.catalog_id) if self.catalog_id else None
        return _there(found, "there is no catalog of this run")

    @property
    def source(self) -> DataSource:
        return _there(self.catalog.source, "its catalog has no data source yet")

    @property
    def member(self) -> PoolMember:
        """The knowledge base of the pool that has the catalog."""
        wanted = self.catalog.knowledge_base_id
        pool = self.product.use_cases.deployment.pool
        found = (each for each in pool if each.knowledge_base_id == wanted)
        return _there(next(found, None), "its knowledge base has left the pool")

    def documents(self) -> dict[str, Document]:
        """By the name of the file."""
        found = self.product.stores.documents.of_catalog(self.catalog.catalog_id)
        return {each.filename: each for each in found}

    def until(self, look: Callable[[], T], what: str, *, seconds: float) -> T:
        """The first answer that is true. Raises StepFailed after so many seconds."""
        until = time.monotonic() + seconds
        while not (seen := look()):
            if time.monotonic() > until:
                raise StepFailed(f"not within {seconds:.0f} s: {what}")
            time.sleep(max(0.2, _LOOK_SECONDS / self.site.speed))
        return seen


def _there(found: T | None, otherwise: str) -> T:
    if found is None:
        raise StepFailed(otherwise)
    return found
