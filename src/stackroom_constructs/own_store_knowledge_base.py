"""
The base of knowledge bases in stores that Stackroom searches itself.

For Retrieve, Bedrock embeds the question, reranks, and applies the guardrail. Here the agent does,
so its role has these rights. A class for a store derives from `OwnStoreKnowledgeBase`: it takes the
store's own arguments, passes on the others, and returns the rights to search the store.

    class ShelfKnowledgeBase(OwnStoreKnowledgeBase):
        def __init__(
            self, scope: Construct, construct_id: str, *, shelf_arn: str,
            embedding_dimensions: int = 1024, **shared: Unpack[OwnStoreArguments],
        ) -> None:
            super().__init__(
                scope, construct_id, vector_store_type="SHELF",
                embedding_dimensions=embedding_dimensions, **shared,
            )

        def store_rights(self) -> Sequence[Right]: ...
        def export_configuration(self) -> dict[str, Any]:
            return {**super().export_configuration(), "shelfArn": self._shelf_arn}

Its docstring describes its own arguments; the page of arguments takes the others from here.
The agent checks the members of its entry when it starts (stackroom_stores.entries).
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

from aws_cdk import aws_iam as iam
from constructs import Construct

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    check_choice,
    check_fraction,
    check_kind,
    check_text,
)
from stackroom_constructs.base_knowledge_base import BaseKnowledgeBase
from stackroom_constructs.bedrock_model import TITAN, BedrockModel, Right, check_dimensions
from stackroom_constructs.search_options import GuardrailSettings, Reranking

Tenancy = Literal["shared", "user"]
SearchType = Literal["HYBRID", "SEMANTIC"]

_TENANCIES = ("shared", "user")
_SEARCH_TYPES = ("HYBRID", "SEMANTIC")
# The model of questions, which must be the one that embedded the documents.
EMBEDDING_MODELS = (TITAN,)
_MAX_KEY = 100  # FilterKey in the API model of bedrock-agent-runtime, botocore 1.44.5
_RESERVED = "x-amz-bedrock"
# Arguments of Reranking that only Bedrock's own Retrieve uses.
_ONLY_IN_RETRIEVE = ("reads_attributes", "fields_to_include", "fields_to_exclude", "model_fields")


class OwnStoreArguments(TypedDict, total=False):
    """
    The arguments that a class for any store passes on; `OwnStoreKnowledgeBase` describes them.
    """

    tenancy: Required[Tenancy]
    tenant_key: str
    name: str | None
    description: str | None
    number_of_results: int
    retrieval_filter: Mapping[str, Any] | None
    enable_acl: bool
    acl_metadata_field: str
    embedding_model: str
    override_search_type: SearchType | None
    reranking: Reranking | None
    guardrail_id: str | None
    guardrail_version: str


class OwnStoreKnowledgeBase(BaseKnowledgeBase):
    """
    The base of knowledge bases that are searched in their own store.

    tenancy: `shared`: callers find everything; `user`: only documents whose `tenant_key` is their
        user id.
    tenant_key: An attribute.
    name: By default the construct's id.
    knowledge_base_id: By default the name.
    embedding_model: What embedded the documents.
    embedding_dimensions: 256, 512 or 1,024.
    override_search_type: By default HYBRID, by meaning and words, where the store can.
    min_score: Leave out passages that score less, 0 to 1.
    reranking: Reorders results.
    guardrail_id, guardrail_version: Applies to every search; in the same account and region,
        its version a number or `DRAFT`.

    Raises InvalidArgument.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vector_store_type: str,
        tenancy: Tenancy,
        tenant_key: str = "user_id",
        name: str | None = None,
        knowledge_base_id: str | None = None,
        description: str | None = None,
        number_of_results: int = 5,
        retrieval_filter: Mapping[str, Any] | None = None,
        enable_acl: bool = False,
        acl_metadata_field: str = "allowed_groups",
        embedding_model: str = TITAN,
        embedding_dimensions: int = 1024,
        override_search_type: SearchType | None = None,
        min_score: float | None = None,
        reranking: Reranking | None = None,
        guardrail_id: str | None = None,
        guardrail_version: str = "DRAFT",
    ) -> None:
        label = construct_id if name is None else name
        super().__init__(
            scope,
            construct_id,
            name=label,
            description=f"The knowledge base {label}." if description is None else description,
            number_of_results=number_of_results,
            retrieval_filter=retrieval_filter,
            enable_acl=enable_acl,
            acl_metadata_field=acl_metadata_field,
        )
        check_choice(self, "tenancy", tenancy, _TENANCIES)
        _check_tenant_key(self, tenant_key)
        check_choice(self, "embedding_model", embedding_model, EMBEDDING_MODELS)
        check_dimensions(self, "embedding_dimensions", embedding_dimensions, model=embedding_model)
        if override_search_type is not None:
            check_choice(self, "override_search_type", override_search_type, _SEARCH_TYPES)
        if min_score is not None:
            check_fraction(self, "min_score", min_score)
        if reranking is not None:
            _check_reranking(self, reranking)
        self._guardrail = GuardrailSettings(id=guardrail_id, version=guardrail_version)
        self._guardrail.check(self)
        self._id = label if knowledge_base_id is None else knowledge_base_id
        check_text(self, "knowledge_base_id", self._id)
        self._embedding_model = embedding_model
        self._reranking = reranking
        self._own: dict[str, Any] = {
            "vectorStoreType": vector_store_type,
            "tenancy": tenancy,
            **({"tenantKey": tenant_key} if tenancy == "user" else {}),
            "embeddingModel": embedding_model,
            "embeddingDimensions": embedding_dimensions,
            **({"overrideSearchType": override_search_type} if override_search_type else {}),
            **({} if min_score is None else {"minScore": min_score}),
        }

    @property
    def knowledge_base_id(self) -> str:
        return self._id

    @abstractmethod
    def store_rights(self) -> Sequence[Right]:
        """Return the rights to search the store, without those to models and guardrails."""

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        rights = [*self.store_rights(), *BedrockModel.of(self._embedding_model).rights(self)]
        rights += self._guardrail.rights(self)
        rights += () if self._reranking is None else self._reranking.rights(self)
        return [each.statement() for each in rights]

    def export_configuration(self) -> dict[str, Any]:
        entry = {"knowledgeBaseId": self._id, **super().export_configuration()}
        entry |= {**self._guardrail.members(), **self._own}
        if self._reranking is not None:
            entry["reranking"] = self._reranking.configuration(self)
        return entry


def _check_tenant_key(owner: Construct, name: Any) -> None:
    check_text(owner, "tenant_key", name, _MAX_KEY)
    if name.strip().casefold().startswith(_RESERVED):
        allowed = f"an attribute with the document's owner, not {_RESERVED}..."
        raise InvalidArgument(owner, "tenant_key", name, allowed)


def _check_reranking(owner: Construct, reranking: Any) -> None:
    check_kind(owner, "reranking", reranking, Reranking, "a Reranking")
    for name in _ONLY_IN_RETRIEVE:
        if getattr(reranking, name):
            allowed = "omitted: the model reads only the question and the text of passages"
            raise InvalidArgument(owner, f"reranking.{name}", getattr(reranking, name), allowed)
