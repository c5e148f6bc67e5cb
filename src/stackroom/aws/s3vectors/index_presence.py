"""
Check whether documents are found in an index of S3 Vectors, whatever the question.

This serves callers that only check presence, so that the account's twenty Retrieve calls a second
stay with people. A vector that was written is found by the next query: "strongly consistent" [S3
user guide: s3-vectors].
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.aws.s3vectors.s3vectors_filters import rendered
from stackroom.aws.s3vectors.vector_passages import VectorReading, answers
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.filters import Filter
from stackroom.model.passages import Retrieved

if TYPE_CHECKING:
    from types_boto3_s3vectors.client import S3VectorsClient

# Documents that one question names: the 100 results of a query [S3 user guide:
# s3-vectors-limitations] leave room for ten passages of each, and the filter's 100 constraints do.
AT_ONCE = 10


@dataclass(frozen=True)
class IndexPresence:
    """A `KnowledgeBase` in which all passages that the filter lets through are equally near."""

    client: "S3VectorsClient"
    index_arn: str

    def retrieve(
        self,
        query: str,  # noqa: ARG002 - the port's argument
        condition: Filter | None,
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        request: dict[str, Any] = {
            "indexArn": self.index_arn,
            "queryVector": {"float32": self._any_vector},
            "topK": limit,
            "returnMetadata": True,
        }
        if condition is not None:
            request["filter"] = rendered(condition)
        pages = map(VectorReading().passages, answers(self.client, request, deadline))
        return Retrieved(passages=tuple(chain.from_iterable(pages)))

    @cached_property
    def _any_vector(self) -> list[float]:
        """Return some vector; one of nothing but zeros is refused [API model of s3vectors]."""
        with direct_search_errors("GetIndex"), understood("GetIndex"):
            index: Any = self.client.get_index(indexArn=self.index_arn)["index"]
            return [1.0] + [0.0] * (int(index["dimension"]) - 1)
