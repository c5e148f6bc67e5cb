"""What a text means, as a vector, and the vectors of texts that were asked before."""

from dataclasses import dataclass
from typing import Protocol

Vector = tuple[float, ...]


class Embeddings(Protocol):
    """
    One model of one provider, at one number of dimensions. It must be safe to call from several
    threads at once.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, text: str) -> Vector:
        """
        The text's vector, of length one.

        Raises KnowledgeBaseThrottled, KnowledgeBaseUnavailable, or SearchRefused for what asking
        again won't mend.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A vector; `is_known_to_asker` if whoever asks was given this very one before."""

    vector: Vector
    is_known_to_asker: bool = False


class EmbeddingCache(Protocol):
    """
    Vectors by key, each kept for a while. It must be safe to call from several threads at once.

    It never raises: a cache that is down has nothing, and keeps nothing. Both methods note that the
    asker was given the vector; `asker` is a hash that tells nobody's name, and None is nobody.
    """

    def get(self, key: str, asker: str | None = None) -> Kept | None: ...

    def put(self, key: str, vector: Vector, asker: str | None = None) -> None: ...
