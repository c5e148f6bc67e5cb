"""
What can be chosen of Bedrock's `Retrieve` for a knowledge base, whatever is asked.

https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from stackroom.stores.bedrock.retrieve_models import MOST_RESULTS, ImplicitFilter, Reranking

SearchType = Literal["HYBRID", "SEMANTIC"]


@dataclass(frozen=True, kw_only=True)
class RetrieveOptions:
    """
    How a knowledge base is searched; without any, as Bedrock does by default.

    `search_type` None lets Bedrock choose; HYBRID is for stores with a filterable text field, which
    S3 Vectors has not. `fixed_filter` is in the grammar of Bedrock's RetrievalFilter, and demanded
    beside whatever a search demands. `has_cosine_scores` says that the scores of a semantic search
    are cosines, which holds for S3 Vectors; of other stores AWS doesn't say what they are.

    `is_managed` is for a MANAGED knowledge base, which is searched by managedSearchConfiguration:
    always hybrid, without implicit filter, and reranked by the service's own model unless
    `managed_reranking` is NONE or `reranking` names another.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-retrieve.html

    Raises ValueError for what doesn't go together.
    """

    search_type: SearchType | None = None
    fixed_filter: Mapping[str, object] | None = None
    reranking: Reranking | None = None
    implicit_filter: ImplicitFilter | None = None
    is_managed: bool = False
    managed_reranking: Literal["MANAGED", "NONE"] | None = None
    has_cosine_scores: bool = True

    def __post_init__(self) -> None:
        if self.search_type not in (None, *get_args(SearchType)):
            raise ValueError(f"search_type is {self.search_type!r}, HYBRID or SEMANTIC is possible")
        if self.is_managed and (self.search_type or self.implicit_filter):
            raise ValueError(
                "a MANAGED knowledge base takes neither search_type nor implicit_filter"
            )
        if self.managed_reranking and not self.is_managed:
            raise ValueError("managed_reranking is for a MANAGED knowledge base only")
        if self.managed_reranking and self.reranking:
            raise ValueError("managed_reranking and reranking: only one can be given")

    @property
    def is_hybrid(self) -> bool:
        return self.is_managed or self.search_type == "HYBRID"

    @property
    def is_reranked(self) -> bool:
        """
        Only where it was asked for: whether a MANAGED knowledge base reranks by default depends on
        its embedding model.
        """
        return self.reranking is not None or self.managed_reranking == "MANAGED"

    @property
    def tells_similarity(self) -> bool:
        return self.has_cosine_scores and not self.is_hybrid and not self.is_reranked

    def configuration(self, limit: int, condition: Mapping[str, object] | None) -> dict[str, Any]:
        """The member `retrievalConfiguration` of a request for at most `limit` passages."""
        chosen: dict[str, Any] = {"numberOfResults": min(limit, MOST_RESULTS)}
        if condition is not None:
            chosen["filter"] = condition
        if self.reranking is not None:
            chosen["rerankingConfiguration"] = self.reranking.configuration(limit)
        if self.is_managed:
            model = "CUSTOM" if self.reranking else self.managed_reranking
            chosen |= {"rerankingModelType": model} if model else {}
            return {"managedSearchConfiguration": chosen}
        if self.search_type is not None:
            chosen["overrideSearchType"] = self.search_type
        if self.implicit_filter is not None:
            chosen["implicitFilterConfiguration"] = self.implicit_filter.configuration
        return {"vectorSearchConfiguration": chosen}
