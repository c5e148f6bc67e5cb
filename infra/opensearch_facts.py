"""
What AWS knows of a collection and a gateway, as CDK context for infra/opensearch_app.py.

    python infra/opensearch_facts.py -c collection_arn=... -c gateway_id=...

prints `-c collection_name=... -c collection_endpoint=... -c gateway_role_arn=...`. Run by `make
deploy-opensearch`. What the arguments tell already is not asked for; nothing is changed.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

_COLLECTION_ARN = re.compile(r"arn:aws[a-z-]*:aoss:(?P<region>[a-z0-9-]+):\d{12}:collection/\w+")


class NotThere(LookupError):
    """AWS knows of no such collection or gateway."""


def facts(told: Mapping[str, str], client: Callable[[str], Any]) -> dict[str, str]:
    """Raises NotThere, and botocore's errors."""
    found: dict[str, str] = {}
    if not {"collection_name", "collection_endpoint"} <= told.keys():
        key = told["collection_arn"].rpartition("/")[2]
        answer = client("opensearchserverless").batch_get_collection(ids=[key])
        if not answer["collectionDetails"]:
            raise NotThere(f"there is no collection {key!r} in this account and region")
        [detail] = answer["collectionDetails"]
        found["collection_name"] = detail["name"]
        found["collection_endpoint"] = detail["collectionEndpoint"]
    if "gateway_role_arn" not in told:
        gateway = told["gateway_id"]
        answer = client("bedrock-agentcore-control").get_gateway(gatewayIdentifier=gateway)
        found["gateway_role_arn"] = answer["roleArn"]
    return {name: value for name, value in found.items() if name not in told}


def main() -> None:
    parser = argparse.ArgumentParser(description="Look up what the stack needs to know.")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE")
    arguments, _ = parser.parse_known_args()
    told = dict(each.split("=", 1) for each in arguments.context if "=" in each)
    for name in ("collection_arn", "gateway_id"):
        if not told.get(name):
            sys.exit(f'say which: make deploy-opensearch ARGS="-c {name}=..."')
    if told.get("tenancy") != "shared":
        sys.exit(
            "say -c tenancy=shared if it is meant: every caller of the gateway finds all that the"
            " index holds"
        )
    if not (arn := _COLLECTION_ARN.fullmatch(told["collection_arn"])):
        sys.exit(
            f"collection_arn {told['collection_arn']!r} must be like"
            " arn:aws:aoss:eu-central-1:123456789012:collection/abc123"
        )
    session = boto3.session.Session(region_name=arn["region"])
    try:
        # The service is a name known when it runs; types-boto3 has types for literal names only.
        found = facts(told, session.client)  # type: ignore[arg-type]
    except (BotoCoreError, ClientError, NotThere) as error:
        sys.exit(f"infra/opensearch_facts.py: {error}")
    sys.stdout.write(" ".join(f"-c {name}={value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
