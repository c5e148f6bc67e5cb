"""What texts mean, for tests that choose it."""

from dataclasses import dataclass

from stackroom.search.cached_embeddings import Vector


@dataclass(frozen=True)
class FixedEmbeddings:
    """All texts mean the same."""

    vector: Vector
    provider: str = "fake"
    model: str = "fake"

    @property
    def dimensions(self) -> int:
        return len(self.vector)

    def embed(self, text: str) -> Vector:
        return self.vector
