"""
A gateway's configuration: the supported parts of CreateGateway and CreateGatewayTarget.

Names and limits are those of the service model (bedrock-agentcore-control) and of the quotas page:
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-quotas.html
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from stackroom_local.gateway.issuer import ACCESS_TOKEN_SECONDS

MCP_PATH = "/mcp"
NAMES = ("127.0.0.1", "localhost")  # of this machine


def mcp_urls(port: int) -> list[str]:
    """Return the addresses of the gateway; a client names the one it knows as its `resource`."""
    return [f"http://{name}:{port}{MCP_PATH}" for name in NAMES]


GatewayName = Annotated[str, StringConstraints(pattern=r"^([0-9a-zA-Z]-?){1,100}$")]
TargetName = Annotated[str, StringConstraints(pattern=r"^([0-9a-zA-Z]-?){1,100}$")]
ToolName = Annotated[str, StringConstraints(min_length=1, max_length=256)]


def _allowed(name: str) -> str:
    """
    Check a header's name. Authorization passes only if the interceptor returns it; X-Amzn-* never
    does.
    """
    if name.lower() == "authorization" or name.lower().startswith("x-amzn-"):
        raise ValueError(f"{name!r} can't be allow-listed")
    return name


HeaderName = Annotated[
    str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]+$"), AfterValidator(_allowed)
]


class _Configuration(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class SchemaDefinition(_Configuration):
    """
    The only schema keywords that the service knows: no enum, no default, no additionalProperties.
    """

    type: Literal["string", "number", "object", "array", "boolean", "integer"]
    description: str | None = None
    properties: dict[str, Self] | None = None
    required: list[str] | None = None
    items: Self | None = None


class ToolDefinition(_Configuration):
    name: ToolName
    description: str
    inputSchema: SchemaDefinition  # noqa: N815 - the service's spelling, and the template's


class TargetConfiguration(_Configuration):
    name: TargetName
    target_id: str
    allowed_request_headers: list[HeaderName] = Field(default_factory=list, max_length=10)
    function: str  # its ARN
    tools: list[ToolDefinition]


class PolicyConfiguration(_Configuration):
    """One Cedar policy; a denial names it by its id."""

    policy_id: str
    statement: str = Field(min_length=35, max_length=10_000)


class PolicyEngineConfiguration(_Configuration):
    gateway_arn: str
    policies: list[PolicyConfiguration]


class GatewayConfiguration(_Configuration):
    gateway_id: GatewayName
    allowed_client_ids: list[str] = Field(min_length=1)
    issuer_url: str
    access_token_seconds: int = Field(default=ACCESS_TOKEN_SECONDS, gt=0)
    role_arn: str | None = None  # that invokes the functions
    interceptor: str | None = None  # its function's ARN
    targets: list[TargetConfiguration] = Field(max_length=100)
    policy_engine: PolicyEngineConfiguration | None = None  # without one every call is permitted
