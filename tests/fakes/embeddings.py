"""Embeddings for tests that choose their meaning."""

from dataclasses import dataclass, field

from stackroom.search.cached_embeddings import Vector

VECTOR = (1.0, 0.0)
BY_MEANING = {"queryVector": {"float32": [1.0, 0.0]}}


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


@dataclass
class FakeEmbeddings:
    provider: str = "fake"
    model: str = "fake"
    dimensions: int = 1024
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    def embed(self, text: str) -> Vector:
        self.asked.append(text)
        if self.error is not None:
            raise self.error
        return VECTOR
