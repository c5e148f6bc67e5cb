"""
Prepare the index of a knowledge base for search by words, which CloudFormation can't do.

Every step checks whether the index is already as it should be, so all of them can be repeated.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from stackroom.concurrency import random_pauses
from stackroom.errors import ServiceRefused, StackroomError, Unavailable


class SearchIndexGone(StackroomError):
    def __init__(self, arn: str) -> None:
        super().__init__(f"{arn!r} is not there")


class SearchIndexBusy(StackroomError):
    def __init__(self, arn: str) -> None:
        super().__init__(f"{arn!r} is busy with another change")


# Looking at the index that a knowledge base keeps its passages in, and making it fit for words.


class Readiness(StrEnum):
    """The progress of preparing an index for search by words."""

    ACTIVE = "active"
    BUILDING = "building"  # it was told to; what was in it before is still being read
    MISSING = "missing"  # nobody told it to, or it is of the older mode


@dataclass(frozen=True, kw_only=True)
class IndexState:
    """
    The state of an index. `is_enhanced` is S3 Vectors' mode with filters before the search, which
    search by words needs.

    `text_search` is the configuration of search by words, `language` the language by which words
    are split; None is the standard analysis.
    """

    is_enhanced: bool
    text_search: Readiness
    language: str | None = None

    @property
    def readiness(self) -> Readiness:
        return self.text_search if self.is_enhanced else Readiness.MISSING


class SearchIndexes(Protocol):
    """
    Access to indexes and their bucket, by ARN.

    All methods raise SearchIndexGone if the resource doesn't exist, SearchIndexBusy during another
    change, StoreUnavailable for a temporary failure, and ServiceRefused for a missing right.
    """

    def state(self, index: str) -> IndexState: ...

    def enhance(self, index: str) -> None:
        """Enable the mode that search by words needs. The index stays searchable."""

    def enhance_those_to_come(self, bucket: str) -> None:
        """Enable that mode for indexes that will be created in the bucket."""

    def add_text_search(self, index: str, language: str | None) -> None:
        """
        Start to index the text, and return at once. Existing passages are indexed later, in any
        time.
        """

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
    """Return the readiness of each index, or None if it can't be read now."""
    return {name: _readiness(indexes, name) for name in names}


def _readiness(indexes: SearchIndexes, name: str) -> Readiness | None:
    try:
        return indexes.state(name).readiness
    except SearchIndexGone:
        return Readiness.MISSING
    except (SearchIndexBusy, Unavailable, ServiceRefused):
        return None
