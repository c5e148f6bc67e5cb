"""What a catalog's work asks of its knowledge base, by the type of its data source."""

import math
from dataclasses import dataclass
from typing import Protocol

from stackroom.model import PerSourceType
from stackroom.ports.admission import Mode

BATCH = 10  # documents of an Ingest- or DeleteKnowledgeBaseDocuments call [API model]


class Demand(Protocol):
    @property
    def mode(self) -> Mode: ...

    def calls(self, documents: int) -> int:
        """Calls that so many documents take; at least 1."""
        ...


@dataclass(frozen=True)
class _OneJob:
    mode: Mode = Mode.EXCLUSIVE

    def calls(self, documents: int) -> int:  # noqa: ARG002 - a job takes as many as there are
        return 1


@dataclass(frozen=True)
class _DirectCalls:
    mode: Mode = Mode.SHARED

    def calls(self, documents: int) -> int:
        return max(1, math.ceil(documents / BATCH))


DEMANDS: PerSourceType[Demand] = PerSourceType(own=_OneJob(), shared=_DirectCalls())
