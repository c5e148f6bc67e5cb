"""What a text means, as a vector, and the vectors of texts that were asked before."""

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


class EmbeddingCache(Protocol):
    """
    Vectors by key, each kept for a while. It must be safe to call from several threads at once.

    It never raises: a cache that is down has nothing, and keeps nothing.
    """

    def get(self, key: str) -> Vector | None: ...

    def put(self, key: str, vector: Vector) -> None: ...
