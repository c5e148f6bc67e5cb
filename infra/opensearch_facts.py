"""
Looks up a collection and a gateway, as CDK context for infra/opensearch_app.py.

    python infra/opensearch_facts.py -c collection_arn=... -c gateway_id=...

prints `-c collection_name=... -c collection_endpoint=... -c gateway_role_arn=...`. `make
deploy-opensearch` runs it. It doesn't look up what the arguments say, and changes nothing.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

_COLLECTION_ARN = re.compile(r"arn:aws[a-z-]*:aoss:(?P<region>[a-z0-9-]+):\d{12}:collection/\w+")


class ResourceMissing(LookupError):
    """The collection or the gateway doesn't exist."""


def look_up(context: Mapping[str, str], client: Callable[[str], Any]) -> dict[str, str]:
    """Return the missing context. Raises ResourceMissing and botocore's errors."""
    found: dict[str, str] = {}
    if not {"collection_name", "collection_endpoint"} <= context.keys():
        key = context["collection_arn"].rpartition("/")[2]
        answer = client("opensearchserverless").batch_get_collection(ids=[key])
        if not answer["collectionDetails"]:
            raise ResourceMissing(f"there is no collection {key!r} in this account and region")
        [detail] = answer["collectionDetails"]
        found["collection_name"] = detail["name"]
        found["collection_endpoint"] = detail["collectionEndpoint"]
    if "gateway_role_arn" not in context:
        gateway = context["gateway_id"]
        answer = client("bedrock-agentcore-control").get_gateway(gatewayIdentifier=gateway)
        found["gateway_role_arn"] = answer["roleArn"]
    return {name: value for name, value in found.items() if name not in context}


def main() -> None:
    parser = argparse.ArgumentParser(description="Look up the context that the stack needs.")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE")
    arguments, _ = parser.parse_known_args()
    context = dict(each.split("=", 1) for each in arguments.context if "=" in each)
    for name in ("collection_arn", "gateway_id"):
        if not context.get(name):
            sys.exit(f'{name} is missing: make deploy-opensearch ARGS="-c {name}=..."')
    if context.get("tenancy") != "shared":
        sys.exit(
            "add -c tenancy=shared if that is intended: every caller of the gateway finds all that"
            " the index holds"
        )
    if not (arn := _COLLECTION_ARN.fullmatch(context["collection_arn"])):
        sys.exit(
            f"collection_arn {context['collection_arn']!r} must be like"
            " arn:aws:aoss:eu-central-1:123456789012:collection/abc123"
        )
    session = boto3.session.Session(region_name=arn["region"])
    try:
        # The service is known at run time only; types-boto3 has types for literal names.
        found = look_up(context, session.client)  # type: ignore[arg-type]
    except (BotoCoreError, ClientError, ResourceMissing) as error:
        sys.exit(f"infra/opensearch_facts.py: {error}")
    sys.stdout.write(" ".join(f"-c {name}={value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
