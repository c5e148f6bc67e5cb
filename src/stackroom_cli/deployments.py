"""The `deployments` commands: add, list and remove deployments on AWS that this machine knows."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from pydantic import TypeAdapter, ValidationError
from rich.text import Text

from stackroom.aws.error_mapping import code_of
from stackroom.errors import ValidationError as Refused
from stackroom_cli.failures import WrongUsage
from stackroom_cli.json_output import DeploymentsAnswer, DeploymentTold, DoneAnswer
from stackroom_cli.output import Output, table
from stackroom_cli.sites.known_deployments import KnownDeployments
from stackroom_cli.sites.site import AwsSite, client_in
from stackroom_cli.sites.site_errors import IncompatibleOutputs, NotDeployed

# A deployment is described by its stacks' outputs, read from a CDK file or from AWS.
#
# `cdk deploy --outputs-file` writes the file: values by name, by stack. AWS is called with
# DescribeStacks, which needs an operator's credentials.

# Fields of a site, and the outputs that set them. Another version may lack one.
NAMES = {
    "bucket": "BucketName",
    "catalog_table": "CatalogTableName",
    "control_table": "ControlTableName",
    "mcp_url": "McpUrl",
    "issuer": "IssuerUrl",
    "client_id": "ClientId",
}
STACKS = ("data", "gateway")  # the stacks with these outputs
_OUTPUTS = TypeAdapter(dict[str, dict[str, str]])
# As infra/data.py names it.
_BUCKET = re.compile(r"(?P<project>.+)-kb-docs-\d{12}-(?P<region>[a-z0-9-]+)")


def load_from_file(name: str, path: Path) -> AwsSite:
    """
    Load a deployment from a file of outputs.

    Raises `IncompatibleOutputs` naming the missing outputs, or ValidationError if the file can't be
    read.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        problem = f"{str(path)!r} can't be read: {error.strerror or error}"
        raise Refused(f"{problem}; `make deploy` writes cdk.out/outputs.json") from error
    try:
        outputs = _OUTPUTS.validate_json(text)
    except ValidationError as error:
        why = "it is not a JSON object of outputs by stack and name"
        raise IncompatibleOutputs(str(path), why) from error
    return _site(
        name, {key: each for stack in outputs.values() for key, each in stack.items()}, str(path)
    )


def load_from_stacks(name: str, cloudformation: Any, *, project: str, region: str) -> AwsSite:
    """
    Load a deployment from its stacks on AWS.

    Raises `NotDeployed` if there are no stacks, or `IncompatibleOutputs` naming the missing
    outputs.
    """
    merged: dict[str, str] = {}
    for each in STACKS:
        stack = f"{project}-{each}"
        try:
            [found] = cloudformation.describe_stacks(StackName=stack)["Stacks"]
        except ClientError as error:
            # "Stack with id ... does not exist" [CloudFormation API reference: DescribeStacks]
            if code_of(error) != "ValidationError":
                raise
            raise NotDeployed(stack, region) from error
        merged |= {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", ())}
    return _site(name, merged, f"the outputs of stacks {project}-* in {region}")


def _site(name: str, outputs: Mapping[str, str], where: str) -> AwsSite:
    if missing := [each for each in NAMES.values() if not outputs.get(each)]:
        raise IncompatibleOutputs(where, f"{', '.join(missing)} missing")
    bucket = _BUCKET.fullmatch(outputs[NAMES["bucket"]])
    if bucket is None:
        raise IncompatibleOutputs(
            where, f"{NAMES['bucket']} is {json.dumps(outputs[NAMES['bucket']])}"
        )
    values = {field: outputs[output] for field, output in NAMES.items()}
    try:
        return AwsSite.model_validate({"name": name, **bucket.groupdict(), **values})
    except ValidationError as error:
        wrong = sorted({str(each["loc"][0]) for each in error.errors()})
        if "name" in wrong:
            raise Refused(
                f"{name!r} is not a deployment's name: use 1 to 64 of A-Z, a-z, 0-9, '_' and '-', "
                "beginning with a letter or digit"
            ) from None
        raise IncompatibleOutputs(
            where, f"{', '.join(NAMES.get(each, each) for each in wrong)} invalid"
        ) from None


def add_from_file(name: str, path: Path, *, output: Output) -> None:
    _add(load_from_file(name, path), output)


def add_from_stacks(name: str, *, project: str, region: str | None, output: Output) -> None:
    """Add a deployment from its stacks' outputs, with an operator's credentials."""
    region = region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise WrongUsage("name the region with --region or AWS_REGION")
    cloudformation = client_in("cloudformation", region)
    _add(load_from_stacks(name, cloudformation, project=project, region=region), output)


def show(*, output: Output) -> None:
    known = KnownDeployments().all()
    shown = table("Deployment", "Project", "Region", "MCP endpoint")
    for each in known:
        shown.add_row(*map(Text, (each.name, each.project, each.region, each.mcp_url)))
    add = "stackroom deployments add NAME --outputs cdk.out/outputs.json"
    output.people.print(shown if known else f"no deployments yet; add one with: {add}")
    output.answer(
        DeploymentsAnswer(deployments=[DeploymentTold.model_validate(each) for each in known])
    )


def remove(name: str, *, output: Output) -> None:
    KnownDeployments().forget(name)
    output.people.print(f"removed {name}; nothing on AWS has changed")
    output.answer(DoneAnswer())


def _add(site: AwsSite, output: Output) -> None:
    KnownDeployments().keep(site)
    output.people.print(f"added {site.label}; try: stackroom --deployment {site.name} doctor")
    output.answer(DeploymentTold.model_validate(site))
