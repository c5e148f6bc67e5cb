"""What a verb needs of the Stackroom that it works on, wherever that is."""

from functools import cache
from typing import Annotated, Any, Protocol, Self

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    BaseModel,
    ConfigDict,
    StringConstraints,
    TypeAdapter,
)


class Site(Protocol):
    """`stackroom_local.state.Instance` is one, and `stackroom_cli.sites.site.AwsSite`."""

    @property
    def bucket(self) -> str: ...

    @property
    def catalog_table(self) -> str: ...

    @property
    def control_table(self) -> str: ...

    @property
    def project(self) -> str:
        """What the names of everything deployed there begin with."""

    @property
    def speed(self) -> float:
        """How many times faster than on AWS its services' delays pass."""

    @property
    def mcp_url(self) -> str: ...

    @property
    def issuer(self) -> str:
        """Of the tokens that the MCP endpoint takes."""

    @property
    def client_id(self) -> str:
        """The public client that people sign in with."""

    @property
    def told(self) -> str:
        """For people: which one it is."""

    def client(self, service: str) -> Any:
        """The boto3 client of a service there, with the rights of whoever runs the verb."""

    def now(self) -> "Site":
        """The same, as it serves now. Raises `NotUp` once it does not serve any more."""


# A deployment on AWS, for operators with AWS credentials and for people who sign in.

# A deployment's name is a name of ours: it stands in a command line and begins a file's name.
DeploymentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
_Text = Annotated[str, StringConstraints(min_length=1)]
_URL = TypeAdapter(AnyHttpUrl)


def _url(text: str) -> str:
    _URL.validate_python(text)
    return text


Url = Annotated[str, AfterValidator(_url)]
# The answer of a function comes when it ends, after fifteen minutes at most, and asking again
# would start it a second time [AWS Lambda quotas; API reference: Invoke].
FUNCTIONS = "functions"
_FUNCTION_SECONDS = 15 * 60 + 30


class AwsSite(BaseModel):
    """
    What its stacks' outputs tell of it. Its `client` has the credentials that the AWS CLI would
    have: of the environment, of AWS_PROFILE, of the machine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: DeploymentName
    project: _Text
    region: _Text
    bucket: _Text
    catalog_table: _Text
    control_table: _Text
    mcp_url: Url
    issuer: Url
    client_id: _Text

    @property
    def speed(self) -> float:
        return 1.0

    @property
    def told(self) -> str:
        return f"deployment {self.name!r} in {self.region}"

    def client(self, service: str) -> Any:
        return client_in(service, self.region)

    def now(self) -> Self:
        return self


@cache
def client_in(service: str, region: str) -> Any:
    """With the SDK's own chain of credentials; `functions` is Lambda, with patience."""
    # Imported here because boto3 takes longer to import than the verbs that don't need it.
    import boto3  # noqa: PLC0415 - see above
    from botocore.config import Config  # noqa: PLC0415 - see above

    from stackroom.aws.session import ALIASES, CONFIG  # noqa: PLC0415 - see above

    patient = Config(read_timeout=_FUNCTION_SECONDS, retries={"total_max_attempts": 1})
    is_function = service == FUNCTIONS
    name = "lambda" if is_function else ALIASES.get(service, service)
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return boto3.session.Session(region_name=region).client(  # type: ignore[call-overload]
        name, config=CONFIG.merge(patient) if is_function else CONFIG
    )
