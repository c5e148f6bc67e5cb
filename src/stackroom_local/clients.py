"""boto3 clients of the local mode's own code."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from bedrock_kb_simulator.access_keys import AccessKey

# Which of the local mode's servers stands for which service of AWS.


def endpoint_variables(aws: str, simulator: str) -> dict[str, str]:
    """
    Return the variables that tell boto3 and the AWS CLI which server answers for which service.

    SQS has a variable of its own for programs that ignore AWS_ENDPOINT_URL. Version 1 of the AWS
    CLI honours neither for SQS: it asks AWS unless --endpoint-url is given
    [awscli/customizations/overridesslcommonname.py].
    """
    return {
        "AWS_ENDPOINT_URL": aws,
        "AWS_ENDPOINT_URL_BEDROCK": simulator,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT": simulator,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": simulator,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": simulator,
        "AWS_ENDPOINT_URL_S3VECTORS": simulator,
        "AWS_ENDPOINT_URL_SQS": aws,
        "AWS_ENDPOINT_URL_TEXTRACT": simulator,
    }


@dataclass(frozen=True, kw_only=True)
class Clients:
    """
    Clients of each service, with one key.

    `aws` and `simulator` are the servers' endpoints, and `patience` is how many seconds to wait for
    an answer.
    """

    aws: str
    simulator: str
    key: AccessKey
    region: str
    patience: float = 60.0

    def __call__(self, service: str) -> Any:
        variable = "AWS_ENDPOINT_URL_" + service.replace("-", "_").upper()
        endpoint = endpoint_variables(self.aws, self.simulator).get(variable, self.aws)
        return _client(service, endpoint, self.key, self.region, self.patience)


@cache
def _client(service: str, endpoint: str, key: AccessKey, region: str, patience: float) -> Any:
    # Imported here because boto3 takes longer to import than the commands that don't need it.
    import boto3  # noqa: PLC0415 - see above
    from botocore.config import Config  # noqa: PLC0415 - see above

    session = boto3.session.Session(key.access_key_id, key.secret_access_key, region_name=region)
    # A local server that refuses a connection is down: asking again only delays saying so.
    config = Config(retries={"total_max_attempts": 2}, connect_timeout=3, read_timeout=patience)
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return session.client(service, endpoint_url=endpoint, config=config)  # type: ignore[call-overload]
