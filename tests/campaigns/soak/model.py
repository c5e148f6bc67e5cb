"""
What every user did and what must come of it: no process, no clock, nothing of the product.

A call that was not answered may or may not have been carried out. Until the key is read back, it
may hold either; a call that was answered leaves one possibility.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum


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
