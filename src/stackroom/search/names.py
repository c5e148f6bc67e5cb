"""
Find the documents that a question names: by file name, by title, or by an attribute of the owner's.

People ask for "the 2022 report of Best Buy" if the file is BESTBUY_2022_10K.pdf. So a name is split
into the words that people write, and neighbouring words of a question also count as one. A word
counts more, the fewer documents have it in their names.
"""

import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from threading import Lock
from typing import TypeVar

from cachetools import TTLCache

from stackroom.errors import Unavailable
from stackroom.model.repositories import Catalogs, NamedDocument, NameLists
from stackroom.search.question_words import QuestionWords, rarity, split_words, stem

logger = logging.getLogger(__name__)

Key = TypeVar("Key", bound=Hashable)

# Upper-case runs, words as CamelCase has them, and numbers.
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_YEAR = re.compile(r"(?:fy|cy)([0-9]{2}|[0-9]{4})")
_QUARTER = re.compile(r"([0-9]{4})(q[1-4])|(q[1-4])([0-9]{4})")
_DIGIT = re.compile(r"[0-9]")
_EXTENSION = re.compile(r"\.[a-z0-9]{2,5}$", re.IGNORECASE)
# What words of a document's opening weigh together that name it: a word that one of three documents
# has weighs 1, and may be any word of a question.
_TELLING = 2.5


class QuestionNames:
    """The words by which a question may name a document, as stems."""

    def __init__(self, question: str) -> None:
        words = QuestionWords.of(question)
        self._language = words.language
        self._stems = self._stemmed(name_words(question))
        self._numbers = frozenset(filter(_has_digit, self._stems))
        self._names = words.named.stems - self._numbers

    def matches(
        self, names: Mapping[Key, Iterable[str]], *, given: Mapping[Key, Iterable[str]]
    ) -> dict[Key, float]:
        """
        Return, by document, the share from 0 to 1 of what the question names that its names have.

        `given` are those of the names that its owner gave. If a question has none of those, a few
        words of a document's opening do not name it. The result is empty if the question names no
        document, or nothing that distinguishes them.
        """
        matching = self.in_names(names)
        weights = {
            each: rarity(count, len(names)) for each, count in _distinguishing(matching).items()
        }
        if not weights:
            return {}
        whole = sum(weights.values())
        if weights.keys().isdisjoint(_distinguishing(self.in_names(given))):
            whole = max(_TELLING, whole)
        return {
            key: sum(weights.get(each, 0.0) for each in stems) / whole
            for key, stems in matching.items()
        }

    def identifiers(
        self, names: Mapping[Key, frozenset[str]], *, numbered: Mapping[Key, frozenset[str]]
    ) -> frozenset[str]:
        """
        Return the stems by which the question names one of the documents, if a number is among
        them, such as a year or a quarter; otherwise none.

        `names` and `numbered` are what `in_names` returns for all names of the documents, and for
        those whose numbers count. A question that compares documents names none: it has two numbers
        of one form, such as two years, or words that no document has together in its names.
        """
        numbers = self._numbers & _distinguishing(numbered).keys()
        words = self._names & _distinguishing(names).keys()
        forms = {_DIGIT.sub("0", each) for each in numbers}
        is_of_one = len(forms) == len(numbers) and any(words <= stems for stems in names.values())
        return numbers | words if numbers and is_of_one else frozenset()

    def in_names(self, names: Mapping[Key, Iterable[str]]) -> dict[Key, frozenset[str]]:
        """Return, by document, the stems of the question that its names have."""
        return {key: self._stems & self._stemmed(words_of(each)) for key, each in names.items()}

    def _stemmed(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(stem(each, self._language) for each in words)


def _distinguishing(matching: Mapping[Key, frozenset[str]]) -> dict[str, int]:
    """Return the stems that some documents have in their names and others don't, with how many."""
    counts = Counter(each for stems in matching.values() for each in stems)
    return {each: count for each, count in counts.items() if count < len(matching)}


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def name_words(question: str) -> set[str]:
    """The words of a question that may be in a document's name, in lower case."""
    words = split_words(question)
    joined = (one + other for one, other in pairwise(words))
    return {*QuestionWords.of(question).words, *joined, *_dates(words)}


def words_of(names: Iterable[str]) -> frozenset[str]:
    """Return the words of a document's names in lower case, without the file extension."""
    found = set[str]()
    for name in names:
        for word in split_words(_EXTENSION.sub("", name), lower=False):
            parts = [each for each in _PARTS.findall(word) if len(each) > 1]
            found |= {word.lower(), *map(str.lower, parts)}
    return frozenset(found | _dates(found))


def _dates(words: Iterable[str]) -> set[str]:
    """Return the years and quarters in the words: FY22 is 2022, and 2023Q1 is 2023 and Q1."""
    found = set[str]()
    for word in words:
        if year := _YEAR.fullmatch(word):
            found.add(year[1] if len(year[1]) == 4 else f"20{year[1]}")
        elif quarter := _QUARTER.fullmatch(word):
            found |= {each for each in quarter.groups() if each}
    return found


# Asking the documents that a question names for themselves: they may have no passage among those
# that a search of all finds.

_SURE = 0.6  # of what a question names that a document's name must have
_MOST_NAMED = 5  # documents of one question [Bedrock: filters of a group]
MOST_NAMES = 10_000  # of a user's documents, in the order of their catalogs' names lists
_SECONDS = 60.0  # that a list of names is kept: what came since isn't asked for itself


class NameIndex:
    """The documents of a user or a catalog by the words of their file names."""

    def __init__(self, documents: Iterable[tuple[str, str]]) -> None:
        """Index pairs of document id and file name."""
        self._documents: list[str] = []
        self._by_word: dict[str, list[int]] = {}
        for number, (document_id, filename) in enumerate(documents):
            self._documents.append(document_id)
            for word in words_of([filename]):
                self._by_word.setdefault(word, []).append(number)

    def named_in(self, question: str) -> list[str]:
        """
        Return the ids of the documents that the question names, best first; none if it names many.
        """
        count, shares = len(self._documents), dict[int, float]()
        whole = 0.0
        for word in name_words(question):
            matching = self._by_word.get(word, ())
            if not 0 < len(matching) < count:
                continue
            weight = rarity(len(matching), count)
            whole += weight
            for number in matching:
                shares[number] = shares.get(number, 0.0) + weight
        best = max(shares.values(), default=0.0)
        if not best or best < _SURE * whole:
            return []
        named = [number for number, share in shares.items() if share >= best]
        return [self._documents[each] for each in named] if len(named) <= _MOST_NAMED else []


class NamedDocuments:
    """
    The documents of a user that a question names, from lists of names that are cached for a minute.

    If a list can't be read, no document is named, and the search of all documents goes on.
    """

    def __init__(
        self,
        names: NameLists,
        catalogs: Catalogs,
        *,
        seconds: float = _SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names = names
        self._catalogs = catalogs
        self._kept: TTLCache[tuple[str, str | None], NameIndex] = TTLCache(32, seconds, timer=now)
        self._lock = Lock()

    def named_in(self, question: str, user_id: str, catalog_id: str | None) -> list[str]:
        """Return ids of documents of the user's catalog, or of all their catalogs."""
        key = (user_id, catalog_id)
        with self._lock:
            index = self._kept.get(key)
        if index is None:
            try:
                index = NameIndex(self._read(user_id, catalog_id))
            except Unavailable:
                logger.warning("names of documents could not be read", exc_info=True)
                return []
            with self._lock:
                self._kept[key] = index
        return index.named_in(question)

    def _read(self, user_id: str, catalog_id: str | None) -> Iterator[tuple[str, str]]:
        if catalog_id is None:
            ids = [each.catalog_id for each in self._catalogs.of_user(user_id)]
        else:
            ids = [catalog_id]
        every = (each for one in ids for each in self._of_catalog(one))
        for each in islice(every, MOST_NAMES):
            yield each.document_id, each.filename

    def _of_catalog(self, catalog_id: str) -> Iterator[NamedDocument]:
        after = ""
        while page := self._names.named(catalog_id, after=after, limit=MOST_NAMES):
            yield from page
            after = page[-1].filename
