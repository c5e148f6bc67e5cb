"""boto3 clients of the local mode's own code, with the keys of `stackroom env --operator`."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from stackroom_local.state import ACCESS_KEY, REGION, SECRET_KEY

# A local server that refuses a connection is down: asking again only delays saying so.
_CONFIG = Config(retries={"total_max_attempts": 2}, connect_timeout=3, read_timeout=60)


@cache
def client(service: str, endpoint: str) -> Any:
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return boto3.session.Session(
        aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION
    ).client(service, endpoint_url=endpoint, config=_CONFIG)  # type: ignore[call-overload]
