"""
What users put, poison among it, and what must come of all that they did: no process, no clock,
nothing of the product.

A call that was not answered may or may not have been carried out. Until the key is read back, it
may hold either; a call that was answered leaves one possibility.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from simulator.tests import files


class End(StrEnum):
    INDEXED = "indexed"
    FAILED = "failed"
    EITHER = "indexed or failed"  # what the services make of such a key is not for us to say


@dataclass(frozen=True)
class Content:
    """What was put under a key; `word` is in its text and in no other content's."""

    etag: str
    word: str = ""
    end: End = End.INDEXED
    reason: str = ""  # a pattern that the reason of its failure matches


ABSENT = None
Possible = Content | None


@dataclass
class Model:
    _keys: dict[str, list[Possible]] = field(default_factory=dict)

    def acknowledged(self, key: str, content: Possible) -> None:
        self._keys[key] = [content]

    def unanswered(self, key: str, content: Possible) -> None:
        """The call may have been carried out, and be carried out no more."""
        possible = self._keys.setdefault(key, [ABSENT])
        if content not in possible:
            possible.append(content)

    def is_doubtful(self, key: str) -> bool:
        return len(self._keys.get(key, [ABSENT])) > 1

    def read_back(self, key: str, etag: str | None) -> str | None:
        """What is wrong with finding that there, or nothing there; of several, that one remains."""
        possible = self._keys.get(key, [ABSENT])
        for each in possible:
            if etag == (each.etag if each else None):
                self._keys[key] = [each]
                return None
        expected = " or ".join(each.word or each.etag if each else "nothing" for each in possible)
        return f"bucket: {key!a} must hold {expected}, and holds {etag or 'nothing'}"

    def holds(self, key: str) -> Content | None:
        """The key's content; of a doubtful key, the oldest possible one."""
        return self._keys.get(key, [ABSENT])[0]

    def under(self, prefix: str) -> list[str]:
        """All keys there that may hold something."""
        return [
            key
            for key, possible in list(self._keys.items())
            if key.startswith(prefix) and any(possible)
        ]

    def used(self) -> set[str]:
        """Every key that was ever used."""
        return set(self._keys)

    def contents(self) -> Iterator[tuple[str, Content]]:
        for key, possible in list(self._keys.items()):
            if possible[0] is not None:
                yield key, possible[0]


_KEY_BYTES = 1023
_MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Poison:
    """`key` is a pattern with `{user}` and `{catalog}`; without a body it is a text of its own."""

    kind: str
    key: str
    end: End = End.FAILED
    reason: str = ""  # a pattern
    body: Callable[[], bytes] | None = None
    by_operator: bool = False  # whose keys alone may put it there
    options: Mapping[str, Any] = field(default_factory=dict)  # of PutObject

    def key_of(self, user: str, catalog: str) -> str:
        key = self.key.replace("{user}", user).replace("{catalog}", catalog)
        return key.replace("{long}", "a" * (_KEY_BYTES - len(key) + len("{long}")))

    def made(self, word: str, text: str) -> tuple[bytes, Content]:
        if self.body is None:
            return text.encode(), Content(_etag(text.encode()), word, self.end, self.reason)
        body = self.body()
        return body, Content(_etag(body), "", self.end, self.reason)


_CUSTOMER_KEY = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "k" * 32}
_INSIDE = "{user}/{catalog}/"

POISONS = (
    Poison("customer key", _INSIDE + "secret.txt", options=_CUSTOMER_KEY),
    Poison("archived", _INSIDE + "archived.txt", options={"StorageClass": "GLACIER"}),
    Poison("newline", _INSIDE + "new\nline.txt", End.EITHER),
    Poison("bell", _INSIDE + "\x07bell.txt", End.EITHER),
    Poison("dots", _INSIDE + "....//x.txt", reason="empty, '.' or '..' folder"),
    Poison("long name", _INSIDE + "{long}.txt", reason="at most 400 are allowed"),
    Poison("empty", _INSIDE + "empty.txt", reason="the file is empty", body=lambda: b""),
    Poison("program", _INSIDE + "setup.exe", reason="not supported"),
    Poison("wrong extension", _INSIDE + "picture.pdf", body=files.picture),
    Poison("password", _INSIDE + "locked.pdf", reason="password", body=files.encrypted_pdf),
    Poison(
        "too large",
        _INSIDE + "huge.txt",
        reason="exceeds 50MB",
        body=lambda: b"The unicorn. " * (51 * _MEGABYTE // 13),
    ),
    Poison("no catalog", "{user}/stray.txt", reason="no catalog folder"),
    Poison("no user", "stray of {user}.txt", reason="no folder", by_operator=True),
)


def _etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def note(word: str, text: str) -> tuple[bytes, Content]:
    """What is no poison: a text with a word of its own, which must become searchable."""
    return text.encode(), Content(_etag(text.encode()), word)
