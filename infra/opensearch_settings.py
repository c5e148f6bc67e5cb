"""The settings of a collection, a gateway and the search between them, checked once."""

import re
from dataclasses import asdict, dataclass, field
from typing import Any

import aws_cdk as cdk

_COLLECTION_ARN = re.compile(
    r"arn:aws[a-z-]*:aoss:(?P<region>[a-z0-9-]+):(?P<account>\d{12}):collection/(?P<id>[a-z0-9]+)"
)
# https://docs.aws.amazon.com/opensearch-service/latest/ServerlessAPIReference/API_CreateCollection.html
_COLLECTION_NAME = re.compile(r"[a-z][a-z0-9-]{2,31}")
_ROLE_ARN = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/(?P<name>[\w+=,.@/-]+)")
# The format of gateway ids [API model of bedrock-agentcore-control, botocore 1.44.5:
# GatewayIdentifier].
_GATEWAY_ID = re.compile(r"([0-9a-z][-]?){1,100}-[0-9a-z]{10}")
_INDEX = re.compile(r"[a-z0-9][a-z0-9._-]{0,254}")
# The dimensions of Titan Text Embeddings V2.
_DIMENSIONS = (256, 512, 1024)
# Lambda's limits: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
_MIN_MEMORY, _MAX_MEMORY = 128, 10_240
_MIN_TIMEOUT, _MAX_TIMEOUT = 2, 900  # Lambda allows 1, which the function needs to respond
TITAN = "amazon.titan-embed-text-v2:0"


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """
    The search in a collection. Each default is that of the function's own settings, too.

    `min_score` is of (1 + cosine) / 2. `source_key` is the attribute that names a passage's source.
    `hybrid` adds text search. `memory`, in MB, and `timeout`, in seconds, are the function's.
    """

    index_name: str = "knowledge-base"
    vector_field: str = "vector"
    text_field: str = "text"
    metadata_field: str = "metadata"
    source_key: str = "source"
    embedding_model: str = TITAN
    embedding_dimensions: int = 256
    top_k: int = 5
    min_score: float = 0.55
    hybrid: bool = False
    memory: int = 512
    timeout: int = 15

    def __post_init__(self) -> None:
        """Raise ValueError that names what is wrong, and what is allowed."""
        if not _INDEX.fullmatch(self.index_name):
            raise ValueError(f"index_name {self.index_name!r} must match {_INDEX.pattern}")
        if self.embedding_dimensions not in _DIMENSIONS:
            allowed = ", ".join(map(str, _DIMENSIONS))
            raise ValueError(
                f"embedding_dimensions {self.embedding_dimensions!r} must be one of {allowed}"
            )
        if self.embedding_model != TITAN:
            # The function supports no other model.
            raise ValueError(f"embedding_model {self.embedding_model!r} must be {TITAN!r}")
        if not 1 <= self.top_k <= 20:
            raise ValueError(f"top_k {self.top_k!r} must be 1 to 20")
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"min_score {self.min_score!r} must be 0 to 1")
        if not _MIN_MEMORY <= self.memory <= _MAX_MEMORY:
            allowed = f"{_MIN_MEMORY} to {_MAX_MEMORY} (MB)"
            raise ValueError(f"memory {self.memory!r} must be {allowed}")
        if not _MIN_TIMEOUT <= self.timeout <= _MAX_TIMEOUT:
            allowed = f"{_MIN_TIMEOUT} to {_MAX_TIMEOUT} (seconds)"
            raise ValueError(f"timeout {self.timeout!r} must be {allowed}")
        for name, value in asdict(self).items():
            if isinstance(value, str) and not value.strip():
                raise ValueError(f"{name} must not be blank")

    def configuration(self) -> dict[str, Any]:
        """Return the settings as fields of a KNOWLEDGE_BASES_CONFIG entry."""
        return {
            "indexName": self.index_name,
            "vectorField": self.vector_field,
            "textField": self.text_field,
            "metadataField": self.metadata_field,
            "sourceKey": self.source_key,
            "embeddingModel": self.embedding_model,
            "embeddingDimensions": self.embedding_dimensions,
            "numberOfResults": self.top_k,
            "minScore": self.min_score,
            "overrideSearchType": "HYBRID" if self.hybrid else "SEMANTIC",
        }


@dataclass(frozen=True, kw_only=True)
class ExistingResources:
    """
    An existing collection and gateway.

    The deployer must set `tenancy` to `shared`: every caller of the gateway finds all that the
    index holds.
    """

    collection_arn: str
    collection_name: str
    gateway_id: str
    gateway_role_arn: str
    tenancy: str
    collection_endpoint: str = ""  # derived from the collection's id and region if empty
    search: SearchSettings = field(default_factory=SearchSettings)

    def __post_init__(self) -> None:
        """Raise ValueError that names what is wrong, and what is allowed."""
        if self.tenancy != "shared":
            raise ValueError(
                f"tenancy {self.tenancy!r} must be 'shared': this stack has no tenants, and every"
                " caller of the gateway finds all that the index holds; add -c tenancy=shared if"
                " that is intended"
            )
        for name, pattern in (
            ("collection_arn", _COLLECTION_ARN),
            ("collection_name", _COLLECTION_NAME),
            ("gateway_id", _GATEWAY_ID),
            ("gateway_role_arn", _ROLE_ARN),
        ):
            if not pattern.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} {getattr(self, name)!r} must match {pattern.pattern}")
        if not self.endpoint.startswith("https://"):
            raise ValueError(f"collection_endpoint {self.endpoint!r} must begin with https://")

    @property
    def endpoint(self) -> str:
        match = _COLLECTION_ARN.fullmatch(self.collection_arn)
        assert match, "the ARN was checked above"
        return self.collection_endpoint or (
            f"https://{match['id']}.{match['region']}.aoss.amazonaws.com"
        )

    @property
    def environment(self) -> cdk.Environment:
        match = _COLLECTION_ARN.fullmatch(self.collection_arn)
        assert match, "the ARN was checked above"
        return cdk.Environment(account=match["account"], region=match["region"])

    @property
    def gateway_role(self) -> str:
        """The role's name, without a path."""
        return self.gateway_role_arn.rpartition("/")[2]
