"""
The differences between a template for AWS and the same template here, and nothing else:

- functions run from this project on AWS's own runtime client, so runtime and code are replaced;
- resources that ministack can't make are removed, and references to them become literals;
- an attribute that ministack doesn't know is computed from one that it does;
- pauses required by Bedrock's limits are shorter by the simulator's speed, and so is the wait for a
  message whose function died, as far as the function's own time allows;
- pages of this machine may upload files, whatever their port;
- a queue runs as many processes of its function as the machine has cores, not five;
- tokens are the local issuer's;
- every other resource, policy, rule, alarm and output stays as synthesised.
"""

import copy
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.function_packages import bootstrap_archive, bootstrap_key
from stackroom_local.deployment.intrinsics import (
    REF,
    Attributes,
    TemplateScope,
    references,
    with_literals,
)
from stackroom_local.gateway.gateway_configuration import mcp_urls
from stackroom_local.gateway.issuer import CLIENT_ID
from stackroom_local.project_files import task_root
from stackroom_local.state import ACCOUNT, REGION

# Which resources of a template a stand-in of ours makes, or nobody; ministack makes the others.
#
# What a Lambda function's resource policy forbids is refused by ministack's Lambda endpoint, root's
# requests too (stackroom_local.deployment.resource_policies).

# Made by the simulator of Bedrock, and by the stand-in of the gateway.
IN_SIMULATOR = ("AWS::Bedrock::", "AWS::S3Vectors::")
IN_GATEWAY = ("AWS::BedrockAgentCore::",)
# Left out, since nothing here would obey it.
WITHOUT_EFFECT = {
    # Questions kept for Logs Insights, which ministack doesn't have.
    "AWS::Logs::QueryDefinition",
    # Schemas of events, for whoever writes a consumer in the AWS console.
    "AWS::EventSchemas::Registry",
    "AWS::EventSchemas::Schema",
    # How Cognito's sign-in pages look: the local issuer has a page of its own.
    "AWS::Cognito::ManagedLoginBranding",
    "AWS::CDK::Metadata",
}


@dataclass(frozen=True)
class Resource:
    logical_id: str
    type: str
    properties: dict[str, Any]


def made_by_stand_in(template: Template, prefixes: tuple[str, ...]) -> list[Resource]:
    """Return the resources of types with these prefixes, each after the resources it refers to."""
    return [
        Resource(logical_id, resource["Type"], resource.get("Properties", {}))
        for logical_id, resource in _dependencies_first(template["Resources"])
        if resource["Type"].startswith(prefixes) and resource["Type"] not in WITHOUT_EFFECT
    ]


def _dependencies_first(resources: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """
    Yield resources after those they refer to. Templates may list them in any order, without cycles.
    """
    pending = dict(resources)
    while pending:
        ready = [
            name
            for name, resource in pending.items()
            if not (set(references(resource)) & pending.keys() - {name})
        ]
        assert ready, "a synthesised template has no cycles"
        for name in ready:
            yield name, pending.pop(name)


_SECRET = "AWS::SecretsManager::Secret"  # noqa: S105 - a type

# Seconds of AWS that a function lets pass; the simulator counts them by its own clock.
_PAUSES = {"ADMISSION_SECONDS_BETWEEN_STARTS"}

# Seconds, of tasks that wait for their token. On AWS such a task fails at once if its function
# does, and is retried; ministack 1.5.33 waits until the timeout.
_CALLBACK_TIMEOUT = 60

# Processes of one function that take messages from its queue; AWS's least is 2.
_CONSUMERS = max(2, min(5, os.cpu_count() or 2))


def localised(
    template: Template,
    made: Mapping[str, Attributes],
    assets: str,
    *,
    speed: float = 1,
    issuer_url: str = "http://127.0.0.1:1",
) -> Template:
    """
    Return the template for ministack; `made` has the stand-ins' resources, `assets` is a bucket.

    `issuer_url` is the address of the gateway's stand-in, which is the issuer of tokens, too.
    """
    made = {**made, **_alarms_left_out(template)}
    template = copy.deepcopy(template)
    resources = template["Resources"]
    for logical_id in [name for name, resource in resources.items() if _is_elsewhere(resource)]:
        del resources[logical_id]
    for resource in resources.values():
        _without_absent_dependencies(resource, resources.keys())
        if resource["Type"] == "AWS::S3::Bucket":
            # CloudFormation takes over an existing bucket only if its name is a literal.
            properties = resource["Properties"]
            properties["BucketName"] = TemplateScope(stack="").value(properties["BucketName"])
            _let_upload_from_here(properties)
        if resource["Type"] == "AWS::SQS::Queue":
            _shorten_visibility(resource["Properties"], speed)
        if "ScalingConfig" in resource.get("Properties", {}):
            resource["Properties"]["ScalingConfig"] = {"MaximumConcurrency": _CONSUMERS}
        if resource["Type"] == "AWS::Lambda::Function":
            _run_from_checkout(resource["Properties"], assets)
            _shorten_pauses(resource["Properties"], speed)
            _trust_issuer(resource["Properties"], issuer_url)
        if resource["Type"] == "AWS::StepFunctions::StateMachine":
            _shorten_callbacks(resource["Properties"])
    secrets = {name for name, each in resources.items() if each["Type"] == _SECRET}
    localised: Template = with_literals(_known_attributes(template, secrets), made)
    return localised


def _alarms_left_out(template: Template) -> dict[str, Attributes]:
    """Return ARNs of alarms on metric math, which ministack can't make, for references to them."""
    return {
        logical_id: {
            REF: logical_id,
            "Arn": f"arn:aws:cloudwatch:{REGION}:{ACCOUNT}:alarm:"
            + resource["Properties"].get("AlarmName", logical_id),
        }
        for logical_id, resource in template["Resources"].items()
        if _is_metric_math(resource)
    }


def _is_elsewhere(resource: Mapping[str, Any]) -> bool:
    type_ = resource["Type"]
    absent = type_ in WITHOUT_EFFECT or _is_metric_math(resource)
    return absent or type_.startswith((*IN_SIMULATOR, *IN_GATEWAY))


def _is_metric_math(resource: Mapping[str, Any]) -> bool:
    return resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in resource["Properties"]


def _without_absent_dependencies(resource: dict[str, Any], present: Any) -> None:
    depends_on = resource.pop("DependsOn", [])
    names = [depends_on] if isinstance(depends_on, str) else depends_on
    if kept := [name for name in names if name in present]:
        resource["DependsOn"] = kept


def _known_attributes(expression: Any, secrets: set[str]) -> Any:
    """
    Replace attributes that ministack 1.5.33 doesn't know.

    It knows a user pool's ProviderName but not its ProviderURL, and a reference to a secret is its
    name, where AWS has its ARN.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-secretsmanager-secret.html
    """
    if isinstance(expression, list):
        return [_known_attributes(item, secrets) for item in expression]
    if not isinstance(expression, dict):
        return expression
    match expression:
        case {"Fn::GetAtt": [str(logical_id), "ProviderURL"]}:
            name = {"Fn::GetAtt": [logical_id, "ProviderName"]}
            return {"Fn::Join": ["", ["https://", name]]}
        case {"Ref": str(logical_id)} if logical_id in secrets:
            return {"Fn::GetAtt": [logical_id, "Id"]}
        case _:
            return {key: _known_attributes(item, secrets) for key, item in expression.items()}


def _run_from_checkout(properties: dict[str, Any], assets: str) -> None:
    properties["Runtime"] = "provided.al2023"
    key = bootstrap_key(bootstrap_archive(task_root()))
    properties["Code"] = {"S3Bucket": assets, "S3Key": key}
    # Layers hold what is installed here anyway, and the architecture is this machine's.
    for unused in ("Layers", "Architectures"):
        properties.pop(unused, None)


def _let_upload_from_here(properties: dict[str, Any]) -> None:
    for rule in properties.get("CorsConfiguration", {}).get("CorsRules", []):
        rule["AllowedOrigins"] = [f"http://{host}:*" for host in ("127.0.0.1", "localhost")]


def _shorten_pauses(properties: dict[str, Any], speed: float) -> None:
    variables = properties.get("Environment", {}).get("Variables", {})
    for name in _PAUSES & variables.keys():
        variables[name] = f"{float(variables[name]) / speed:g}"


def _trust_issuer(properties: dict[str, Any], url: str) -> None:
    """Have a function that verifies tokens accept those of the local issuer, in Cognito's place."""
    local = {
        "IDENTITY_ISSUER": url,
        "IDENTITY_JWKS_URL": f"{url}/.well-known/jwks.json",
        "IDENTITY_CLIENT_IDS": json.dumps([CLIENT_ID]),
        "IDENTITY_AUDIENCES": json.dumps(mcp_urls(urlsplit(url).port or 0)),
    }
    variables = properties.get("Environment", {}).get("Variables", {})
    variables |= {name: value for name, value in local.items() if name in variables}


def _shorten_visibility(properties: dict[str, Any], speed: float) -> None:
    """
    Shorten a queue's visibility timeout to twice the function's, for its start and its work.

    On AWS it is six times the function's, mostly for throttled invocations, and none is throttled
    here.
    """
    if seconds := properties.get("VisibilityTimeout"):
        properties["VisibilityTimeout"] = int(max(seconds / speed, seconds / 3))


def _shorten_callbacks(properties: dict[str, Any]) -> None:
    machine = json.loads(properties["DefinitionString"])
    for state in machine["States"].values():
        if state.get("Resource", "").endswith(".waitForTaskToken"):
            state["TimeoutSeconds"] = _CALLBACK_TIMEOUT
    properties["DefinitionString"] = json.dumps(machine)
