"""Looking at the index that a knowledge base keeps its passages in, and making it fit for words."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Readiness(StrEnum):
    """Whether an index can be searched by words."""

    ACTIVE = "active"
    BUILDING = "building"  # it was told to; what was in it before is still being read
    MISSING = "missing"  # nobody told it to, or it is of the older mode


@dataclass(frozen=True, kw_only=True)
class IndexState:
    """
    `is_enhanced` is S3 Vectors' mode with filters before the search, which search by words needs.

    `text_search` says what was configured for the passages' text, `language` how its words are
    told apart; None is the standard way, of no language.
    """

    is_enhanced: bool
    text_search: Readiness
    language: str | None = None

    @property
    def readiness(self) -> Readiness:
        return self.text_search if self.is_enhanced else Readiness.MISSING


class SearchIndexes(Protocol):
    """
    Indexes and their bucket, by ARN.

    Everything here raises SearchIndexGone for what is not there, SearchIndexBusy while another
    change is under way, StoreUnavailable for what will pass, and ServiceRefused for a right that
    is missing.
    """

    def state(self, index: str) -> IndexState: ...

    def enhance(self, index: str) -> None:
        """Gives it the mode that search by words needs. It can be searched meanwhile."""
        ...

    def enhance_those_to_come(self, bucket: str) -> None:
        """Indexes that are made in the bucket from now on have that mode."""
        ...

    def add_text_search(self, index: str, language: str | None) -> None:
        """Returns at once; what is in the index already is read later, however long it takes."""
        ...

    def remove_text_search(self, index: str) -> None: ...
