"""The Stackroom that a command works on, in the local mode or on AWS."""

from functools import cache
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AnyHttpUrl,
    BaseModel,
    ConfigDict,
    StringConstraints,
    TypeAdapter,
)

from stackroom_local.state import Instance

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
    A deployment, as its stacks' outputs describe it.

    Its `client` uses the credentials that the AWS CLI would use: those of the environment, of
    AWS_PROFILE, or of the machine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: DeploymentName
    project: _Text  # the prefix of all deployed resources' names
    region: _Text
    bucket: _Text
    catalog_table: _Text
    control_table: _Text
    mcp_url: Url
    issuer: Url  # of the tokens that the MCP endpoint accepts
    client_id: _Text  # of the public client that people sign in with

    @property
    def speed(self) -> float:
        """The factor by which services' delays are shorter than on AWS."""
        return 1.0

    @property
    def label(self) -> str:
        """The site's name for people."""
        return f"deployment {self.name!r} in {self.region}"

    def client(self, service: str) -> Any:
        return client_in(service, self.region)

    def now(self) -> Self:
        """Return the site as it is served now; an `Instance` may be up no longer."""
        return self


Site = Instance | AwsSite


@cache
def client_in(service: str, region: str) -> Any:
    """
    Return a client with the SDK's own chain of credentials.

    The service `functions` is Lambda with a timeout as long as a function can run.
    """
    # Imported here because boto3 takes longer to import than the commands that don't need it.
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
