"""Files and keys that must harm nobody but themselves: what is put, and what must come of it."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests import files
from tests.campaigns.soak.model import Content, End

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
