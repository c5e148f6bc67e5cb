"""How one knowledge base of Bedrock is searched: checked, exported, and what that takes."""

from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam
from constructs import Construct

from stackroom_constructs.guarding import Guarding
from stackroom_constructs.model import Right
from stackroom_constructs.refusals import (
    InvalidArgument,
    check_choice,
    check_flag,
    check_kind,
    check_share,
)
from stackroom_constructs.search_options import ImplicitFilter, Reranking

# What Bedrock's Retrieve searches, whatever it stands on.
STORES = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")
# Hybrid search needs a filterable text field, and MANAGED chooses for itself.
# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
_HYBRID_STORES = ("OPENSEARCH_SERVERLESS", "RDS")


@dataclass(frozen=True, kw_only=True)
class Searching:
    """Fields as in BedrockKnowledgeBase, where they are described."""

    store: str
    generation: bool
    guardrail_id: str | None
    guardrail_version: str
    search_type: str | None
    min_score: float | None
    reranking: Reranking | None
    implicit_filter: ImplicitFilter | None
    managed_reranking: str | None = None

    def check(self, owner: Construct) -> None:
        """Raises InvalidArgument."""
        check_choice(owner, "vector_store_type", self.store, STORES)
        check_flag(owner, "generation", self.generation)
        self._guarding.check(owner)
        self._check_search_type(owner)
        if self.min_score is not None:
            check_share(owner, "min_score", self.min_score)
        if self.reranking is not None:
            check_kind(owner, "reranking", self.reranking, Reranking, "a Reranking")
        if self.implicit_filter is not None:
            allowed = "an ImplicitFilter"
            check_kind(owner, "implicit_filter", self.implicit_filter, ImplicitFilter, allowed)
        if self.managed_reranking is not None:
            self._check_managed_reranking(owner)
        if self.implicit_filter is not None and self.store == "MANAGED":
            allowed = "left out with MANAGED, which makes no filters of questions"
            raise InvalidArgument(owner, "implicit_filter", self.implicit_filter, allowed)

    def check_embedding(self, owner: Construct, *, is_own: bool) -> None:
        """
        `is_own` where whoever makes the knowledge base chooses what embeds. Raises InvalidArgument.
        """
        if is_own and self.managed_reranking == "MANAGED":
            allowed = "NONE or left out, unless create.embedding_model is 'managed', too"
            raise InvalidArgument(owner, "managed_reranking", self.managed_reranking, allowed)

    def exported(self, scope: Construct) -> dict[str, Any]:
        """Members of the entry in KNOWLEDGE_BASES_CONFIG."""
        chosen = {
            "overrideSearchType": self.search_type,
            "minScore": self.min_score,
            "reranking": self.reranking and self.reranking.configuration(scope),
            "managedReranking": self.managed_reranking,
            "implicitFilter": self.implicit_filter and self.implicit_filter.configuration(scope),
        }
        return {
            **self._guarding.exported(),
            "vectorStoreType": self.store,
            **{name: each for name, each in chosen.items() if each is not None},
        }

    def statements(self, scope: Construct, knowledge_base_arn: str) -> list[iam.PolicyStatement]:
        """
        What the agent needs. RetrieveAndGenerate has no resource type, so it stands by itself, and
        who calls it asks the reranking model, which at Retrieve is the service role's affair.
        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
        https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html
        """
        rights = [Right(actions=("bedrock:Retrieve",), resources=(knowledge_base_arn,))]
        rights += self._guarding.rights(scope)
        if self.implicit_filter is not None:
            rights += self.implicit_filter.bedrock_model.rights(scope)
        if self.generation and self.store != "MANAGED":
            rights.append(Right(actions=("bedrock:RetrieveAndGenerate",), resources=("*",)))
            rights += [] if self.reranking is None else self.reranking.rights(scope)
        return [each.statement() for each in rights]

    def service_rights(self, scope: Construct) -> list[Right]:
        """What the service role of a knowledge base that is made needs for it."""
        return [
            *(() if self.reranking is None else self.reranking.rights(scope)),
            *(
                ()
                if self.implicit_filter is None
                else self.implicit_filter.bedrock_model.rights(scope)
            ),
        ]

    @property
    def _guarding(self) -> Guarding:
        return Guarding(id=self.guardrail_id, version=self.guardrail_version)

    def _check_managed_reranking(self, owner: Construct) -> None:
        chosen = self.managed_reranking
        check_choice(owner, "managed_reranking", chosen, ("MANAGED", "NONE"))
        if self.store != "MANAGED":
            allowed = f"left out with {self.store}, which has no model of its own for it"
            raise InvalidArgument(owner, "managed_reranking", chosen, allowed)
        if self.reranking is not None:
            allowed = "left out beside reranking: one of the two reranks"
            raise InvalidArgument(owner, "managed_reranking", chosen, allowed)

    def _check_search_type(self, owner: Construct) -> None:
        if self.search_type is None:
            return
        check_choice(owner, "override_search_type", self.search_type, ("HYBRID", "SEMANTIC"))
        if self.store == "MANAGED":
            allowed = "left out with MANAGED, which chooses for itself"
            raise InvalidArgument(owner, "override_search_type", self.search_type, allowed)
        if self.search_type == "HYBRID" and self.store not in _HYBRID_STORES:
            allowed = f"SEMANTIC with {self.store}; HYBRID is for {' and '.join(_HYBRID_STORES)}"
            raise InvalidArgument(owner, "override_search_type", self.search_type, allowed)
