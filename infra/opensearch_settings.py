"""The settings of a collection, a gateway and the search between them."""

import re
from dataclasses import dataclass

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs import OpenSearchKnowledgeBase

_COLLECTION_ARN = re.compile(
    r"arn:aws[a-z-]*:aoss:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):collection/(?P<id>[a-z0-9]+)"
)
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/(?P<name>[\w+=,.@/-]+)")
# The format of gateway ids [API model of bedrock-agentcore-control, botocore 1.44.5:
# GatewayIdentifier].
_GATEWAY_ID = re.compile(r"([0-9a-z][-]?){1,100}-[0-9a-z]{10}")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """
    An existing collection and gateway, and the search; docs/opensearch.md describes each setting.

    The deployer must set `tenancy` to `shared`: every caller of the gateway finds all that the
    index holds.
    """

    collection_arn: str = ""
    collection_name: str = ""
    gateway_id: str = ""
    gateway_role_arn: str = ""
    tenancy: str = ""
    collection_endpoint: str = ""  # derived from the collection's id and region if empty
    index_name: str = "knowledge-base"
    vector_field: str = "vector"
    text_field: str = "text"
    metadata_field: str = "metadata"
    source_key: str = "source"
    embedding_model: str = "amazon.titan-embed-text-v2:0"
    embedding_dimensions: int = 256
    top_k: int = 5
    min_score: float = 0.55
    hybrid: bool = False
    memory: int = 512
    timeout: int = 15

    def __post_init__(self) -> None:
        """Raise ValueError for what the knowledge base doesn't check."""
        if self.tenancy != "shared":
            raise ValueError(
                f"tenancy {self.tenancy!r} must be 'shared': this stack has no tenants, and every"
                " caller of the gateway finds all that the index holds; add -c tenancy=shared if"
                " that is intended"
            )
        for name, pattern in (
            ("collection_arn", _COLLECTION_ARN),
            ("gateway_id", _GATEWAY_ID),
            ("gateway_role_arn", _ROLE_ARN),
        ):
            if not pattern.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r} must match {pattern.pattern}")

    def knowledge_base(self, scope: Construct) -> OpenSearchKnowledgeBase:
        """Create the knowledge base. Raises InvalidArgument."""
        host = "{id}.{region}.aoss.amazonaws.com".format(**self._collection())
        return OpenSearchKnowledgeBase(
            scope,
            "Collection",
            collection_arn=self.collection_arn,
            collection_name=self.collection_name,
            collection_endpoint=self.collection_endpoint or f"https://{host}",
            tenancy="shared",
            name=self.collection_name,
            description=f"The collection {self.collection_name}.",
            index_name=self.index_name,
            vector_field=self.vector_field,
            text_field=self.text_field,
            metadata_field=self.metadata_field,
            source_key=self.source_key,
            embedding_model=self.embedding_model,
            embedding_dimensions=self.embedding_dimensions,
            number_of_results=self.top_k,
            min_score=self.min_score,
            override_search_type="HYBRID" if self.hybrid else "SEMANTIC",
        )

    @property
    def environment(self) -> cdk.Environment:
        collection = self._collection()
        return cdk.Environment(account=collection["account"], region=collection["region"])

    @property
    def gateway_role(self) -> str:
        """The role's name, without a path."""
        return self.gateway_role_arn.rpartition("/")[2]

    def _collection(self) -> dict[str, str]:
        match = _COLLECTION_ARN.fullmatch(self.collection_arn)
        assert match, "the ARN was checked above"
        return match.groupdict()
