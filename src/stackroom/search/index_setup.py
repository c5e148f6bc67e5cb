"""
The index of a knowledge base, made for search by words: CloudFormation can't, so this does.

Each step is taken only if the index is not so already, hence everything here may be done again.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from stackroom.concurrency import random_pauses
from stackroom.errors import SearchIndexBusy, SearchIndexGone, ServiceRefused, Unavailable

# Looking at the index that a knowledge base keeps its passages in, and making it fit for words.


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

    def enhance_those_to_come(self, bucket: str) -> None:
        """Indexes that are made in the bucket from now on have that mode."""

    def add_text_search(self, index: str, language: str | None) -> None:
        """Returns at once; what is in the index already is read later, however long it takes."""

    def remove_text_search(self, index: str) -> None: ...


# Rights that were only just granted are not known everywhere yet, and CloudFormation doesn't wait.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
_WILL_PASS = (SearchIndexBusy, Unavailable, ServiceRefused)
_pause = random_pauses(first=1, longest=15)


@dataclass(frozen=True, kw_only=True)
class IndexSetup:
    indexes: SearchIndexes
    pause: Callable[[int], None] = _pause

    def prepare(
        self, index: str, *, bucket: str, language: str | None, has_time: Callable[[], bool]
    ) -> IndexState:
        """
        Have the index searched by words in that language, None for the standard way of no language.

        Doesn't wait until everything in it can be found by words, which may take long. What is in
        the way for a while is tried again for as long as there is time; then its error is raised.
        """
        for attempt in itertools.count():
            try:
                self.indexes.enhance_those_to_come(bucket)
                return self._prepared(index, language)
            except _WILL_PASS:
                if not has_time():
                    raise
                self.pause(attempt)
        raise AssertionError("counting has no end")

    def _prepared(self, index: str, language: str | None) -> IndexState:
        state = self.indexes.state(index)
        if not state.is_enhanced:
            self.indexes.enhance(index)
            state = self._seen(index, lambda now: now.is_enhanced)
        if state.text_search is not Readiness.MISSING and state.language != language:
            # A configuration can be added and removed, not changed.
            self.indexes.remove_text_search(index)
            state = self._seen(index, lambda now: now.text_search is Readiness.MISSING)
        if state.text_search is Readiness.MISSING:
            self.indexes.add_text_search(index, language)
            state = self._seen(index, lambda now: now.text_search is not Readiness.MISSING)
        return state

    def _seen(self, index: str, is_done: Callable[[IndexState], bool]) -> IndexState:
        state = self.indexes.state(index)
        if not is_done(state):
            raise SearchIndexBusy(index)
        return state


def readiness_of(indexes: SearchIndexes, names: Iterable[str]) -> Mapping[str, Readiness | None]:
    """Of each index; None is what can't be told now."""
    return {name: _readiness(indexes, name) for name in names}


def _readiness(indexes: SearchIndexes, name: str) -> Readiness | None:
    try:
        return indexes.state(name).readiness
    except SearchIndexGone:
        return Readiness.MISSING
    except (SearchIndexBusy, Unavailable, ServiceRefused):
        return None
