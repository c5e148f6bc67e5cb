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
    """Something is not as Stackroom promises it; of assumptions it may tell all the same."""

    def __init__(self, what: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(what)
        self.findings = findings


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
    """The users are there after people, the catalog after drop, its data source after index."""

    site: Site
    names: Names
    owner: Person = field(init=False)
    other: Person = field(init=False)
    catalog_id: str = ""
    dropped: int = 0  # files
    began: float = 0.0  # when all were dropped, by time.monotonic()
    measured: dict[str, float] = field(default_factory=dict)  # seconds

    def enter(self) -> None:
        self.owner = made(self.site, self.names.owner, self.names.group)
        self.other = made(self.site, self.names.other, self.names.group)

    @cached_property
    def product(self) -> Product:
        return Product(self.site)

    @property
    def catalog(self) -> Catalog:
        return _there(self.product.stores.catalogs.get(self.catalog_id), "the catalog")

    @property
    def source(self) -> DataSource:
        return _there(self.catalog.source, "the catalog's data source")

    @property
    def member(self) -> PoolMember:
        """The knowledge base of the pool that has the catalog."""
        wanted = self.catalog.knowledge_base_id
        pool = self.product.use_cases.deployment.pool
        found = (each for each in pool if each.knowledge_base_id == wanted)
        return _there(next(found, None), "the catalog's knowledge base")

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


def _there(found: T | None, what: str) -> T:
    if found is None:
        raise StepFailed(f"{what} is not there")
    return found
