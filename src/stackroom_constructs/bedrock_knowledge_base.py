"""A knowledge base of Amazon Bedrock that exists already or is created."""

import re
from collections.abc import Mapping
from typing import Any, Literal, Self

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument, check_kind, check_name, check_text
from stackroom_constructs.base_knowledge_base import BaseKnowledgeBase
from stackroom_constructs.created_knowledge_base import CreatedKnowledgeBase, create_knowledge_base
from stackroom_constructs.knowledge_base_creation import KnowledgeBaseCreation
from stackroom_constructs.search_options import BedrockSearch, ImplicitFilter, Reranking

Store = Literal["S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED"]

# KnowledgeBaseIdentifier in the API model of bedrock-agent-runtime, botocore 1.44.5.
_ID = re.compile(r"[0-9a-zA-Z]{10}")
_ARN = re.compile(
    r"arn:aws[a-z-]*:bedrock:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):knowledge-base/[0-9a-zA-Z]{10}"
)
_MAX_DESCRIPTION = 200  # of a created one; API model of bedrock-agent, botocore 1.44.5


class BedrockKnowledgeBase(BaseKnowledgeBase):
    """
    A knowledge base of Amazon Bedrock, existing or made.

        BedrockKnowledgeBase(stack, "Handbook", knowledge_base_id="ABCDE12345")
        BedrockKnowledgeBase(
            stack, "Rules", create=KnowledgeBaseCreation(bucket=documents, prefix="rules/")
        )

    `.from_knowledge_base_arn(stack, "Handbook", arn)` takes the ARN of one that exists, and
    `.grant_retrieve(function)` lets others than an agent search it, as in AWS's own constructs. One
    that is made lets others refer to it: `.knowledge_base_arn`, `.knowledge_base_id`,
    `.data_source_id`, and `.created` with role, index, knowledge base and data source.

    name: By default the construct's id. With `create`, also the name in Bedrock: letters, digits,
        single - and _.
    knowledge_base_id, create: An existing one in the same account and region, or what to make.
    description: What it contains, for the model; at most 200 characters with `create`.
    reranking: Reorders results.
    guardrail_id, guardrail_version: Applies to every search; in the same account and region,
        its version a number or `DRAFT`.
    vector_store_type: What the knowledge base stands on.
    generation: Also grant bedrock:RetrieveAndGenerate, on `*`, for your own tools; never with
        MANAGED.
    override_search_type: HYBRID on OPENSEARCH_SERVERLESS and RDS only; none with MANAGED.
    min_score: Leave out passages that score less, 0 to 1.
    managed_reranking: MANAGED only, instead of `reranking`; the service's model scores relative to
        the best result.
    implicit_filter: Derives a filter from each question.

    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-retrieve.html

    Raises InvalidArgument.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str | None = None,
        knowledge_base_id: str | None = None,
        create: KnowledgeBaseCreation | None = None,
        description: str | None = None,
        number_of_results: int = 5,
        retrieval_filter: Mapping[str, Any] | None = None,
        enable_acl: bool = False,
        acl_metadata_field: str = "allowed_groups",
        guardrail_id: str | None = None,
        guardrail_version: str = "DRAFT",
        vector_store_type: Store = "S3_VECTORS",
        generation: bool = True,
        override_search_type: Literal["HYBRID", "SEMANTIC"] | None = None,
        min_score: float | None = None,
        reranking: Reranking | None = None,
        managed_reranking: Literal["MANAGED", "NONE"] | None = None,
        implicit_filter: ImplicitFilter | None = None,
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
        self._search = BedrockSearch(
            store=vector_store_type,
            generation=generation,
            guardrail_id=guardrail_id,
            guardrail_version=guardrail_version,
            search_type=override_search_type,
            min_score=min_score,
            reranking=reranking,
            managed_reranking=managed_reranking,
            implicit_filter=implicit_filter,
        )
        self._search.check(self)
        self._given_id = _checked_id(self, knowledge_base_id, create)
        if create is not None:
            check_kind(self, "create", create, KnowledgeBaseCreation, "a KnowledgeBaseCreation")
        self.created = None if create is None else self._create(name, create)
        self._embedding = {} if create is None or create.model is None else _embedding(create)

    @classmethod
    def from_knowledge_base_arn(
        cls, scope: Construct, construct_id: str, knowledge_base_arn: str, **arguments: Any
    ) -> Self:
        """
        Return an existing knowledge base by its ARN, which may be a token.

        The other arguments are those of the class. Raises InvalidArgument for an ARN of another
        resource, account or region.
        """
        stack = cdk.Stack.of(scope)
        if not cdk.Token.is_unresolved(knowledge_base_arn):
            _check_arn(stack, f"{scope.node.path}/{construct_id}", knowledge_base_arn)
        parts = stack.split_arn(knowledge_base_arn, cdk.ArnFormat.SLASH_RESOURCE_NAME)
        return cls(scope, construct_id, knowledge_base_id=parts.resource_name, **arguments)

    @property
    def knowledge_base_id(self) -> str:
        if self.created is not None:
            return self.created.knowledge_base.attr_knowledge_base_id
        return str(self._given_id)

    @property
    def knowledge_base_arn(self) -> str:
        if self.created is not None:
            return self.created.knowledge_base.attr_knowledge_base_arn
        return cdk.Stack.of(self).format_arn(
            service="bedrock", resource="knowledge-base", resource_name=self.knowledge_base_id
        )

    @property
    def data_source_id(self) -> str:
        """
        The data source of a created knowledge base. Raises InvalidArgument for an existing one.
        """
        if self.created is None:
            allowed = "of a created knowledge base; existing ones have no data source here"
            raise InvalidArgument(self, "data_source_id", None, allowed)
        return self.created.data_source.attr_data_source_id

    def grant_retrieve(self, grantee: iam.IGrantable) -> iam.Grant:
        """
        Grant `bedrock:Retrieve` on this knowledge base to a function or a role of yours.

        An agent that has the knowledge base doesn't need it.
        """
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["bedrock:Retrieve"],
            resource_arns=[self.knowledge_base_arn],
        )

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        return self._search.statements(self, self.knowledge_base_arn)

    def export_configuration(self) -> dict[str, Any]:
        return {
            "knowledgeBaseId": self.knowledge_base_id,
            **super().export_configuration(),
            **self._search.members(self),
            **self._embedding,
        }

    def _create(self, name: str | None, create: KnowledgeBaseCreation) -> CreatedKnowledgeBase:
        label = cdk.Names.unique_resource_name(self, max_length=100) if name is None else name
        check_name(self, "name", label)
        _check_place(self, create)
        check_text(self, "description", self.description, _MAX_DESCRIPTION)
        self._search.check_embedding(self, is_own=create.model is not None)
        return create_knowledge_base(
            self,
            create,
            vector_store_type=self._search.store,
            name=label,
            description=self.description,
            rights=self._search.service_rights(self),
        )


def _check_place(owner: Construct, create: KnowledgeBaseCreation) -> None:
    """Check the bucket's account and region, as far as they are known before the deployment."""
    stack, bucket = cdk.Stack.of(owner), create.bucket.env
    for what, here, there in (
        ("account", stack.account, bucket.account),
        ("region", stack.region, bucket.region),
    ):
        is_known = not cdk.Token.is_unresolved(here) and not cdk.Token.is_unresolved(there)
        if is_known and here != there:
            allowed = f"{here!r}, that of the stack"
            raise InvalidArgument(owner, f"{what} of the bucket in `create`", there, allowed)


def _check_arn(stack: cdk.Stack, owner: str, arn: str) -> None:
    match = _ARN.fullmatch(str(arn))
    if match is None:
        allowed = "an ARN like arn:aws:bedrock:{region}:{account}:knowledge-base/ABCDE12345"
        raise InvalidArgument(owner, "knowledge_base_arn", arn, allowed)
    for what, here in (("region", stack.region), ("account", stack.account)):
        if not cdk.Token.is_unresolved(here) and match[what] != here:
            allowed = f"of the {what} {here!r}, that of the stack"
            raise InvalidArgument(owner, "knowledge_base_arn", arn, allowed)


def _checked_id(
    owner: Construct, knowledge_base_id: str | None, create: KnowledgeBaseCreation | None
) -> str | None:
    if knowledge_base_id is None and create is None:
        allowed = "the id of an existing knowledge base, unless `create` is given"
        raise InvalidArgument(owner, "knowledge_base_id", None, allowed)
    if knowledge_base_id is None:
        return None
    if create is not None:
        allowed = "omitted with `create`: a knowledge base either exists or is created"
        raise InvalidArgument(owner, "knowledge_base_id", knowledge_base_id, allowed)
    if not cdk.Token.is_unresolved(knowledge_base_id) and not _ID.fullmatch(str(knowledge_base_id)):
        allowed = "10 letters and digits, or a token"
        raise InvalidArgument(owner, "knowledge_base_id", knowledge_base_id, allowed)
    return knowledge_base_id


def _embedding(create: KnowledgeBaseCreation) -> dict[str, Any]:
    """
    Return the embedding of passages, which are comparable across knowledge bases with the same one.
    """
    return {"embeddingModel": create.embedding_model, "embeddingDimensions": create.dimensions}
