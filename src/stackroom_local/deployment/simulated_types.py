"""
Bedrock's and S3 Vectors' resource types in ministack's CloudFormation, which lacks them.

Any stack may have them; each is made, changed and deleted in the simulator through its real API.

As in CloudFormation, a change of a fixed property makes a new resource and deletes the old one
afterwards; a resource is gone before the resources that it refers to; deleting a missing resource
succeeds. AWS's refusals come with a handler's error code:
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html

A bucket with objects is kept, which ministack's CloudFormation would delete with its content.

Stackroom's own stacks don't come this way: stackroom_local.deployment keeps what they hold.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from bedrock_kb_simulator.access_keys import RootKey
from stackroom_local.clients import Clients
from stackroom_local.deployment.simulated_resources import Maker, Simulator, named
from stackroom_local.local_errors import NotStabilised
from stackroom_local.state import REGION

# What can't be changed [createOnlyProperties of each type's schema, which CloudFormation's
# DescribeType answers], by paths of which the first name is a property of the template's.
CREATE_ONLY: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "AWS::S3Vectors::VectorBucket": (("VectorBucketName",), ("EncryptionConfiguration",)),
    "AWS::S3Vectors::VectorBucketPolicy": (("VectorBucketArn",), ("VectorBucketName",)),
    "AWS::S3Vectors::Index": (
        ("DataType",),
        ("Dimension",),
        ("DistanceMetric",),
        ("EncryptionConfiguration",),
        ("IndexName",),
        ("MetadataConfiguration",),
        ("VectorBucketArn",),
        ("VectorBucketName",),
    ),
    "AWS::Bedrock::KnowledgeBase": (
        ("StorageConfiguration",),
        ("KnowledgeBaseConfiguration", "Type"),
        ("KnowledgeBaseConfiguration", "VectorKnowledgeBaseConfiguration"),
        ("KnowledgeBaseConfiguration", "ManagedKnowledgeBaseConfiguration"),
    ),
    "AWS::Bedrock::DataSource": (
        ("KnowledgeBaseId",),
        ("VectorIngestionConfiguration", "ChunkingConfiguration"),
        ("VectorIngestionConfiguration", "ParsingConfiguration"),
        ("DataSourceConfiguration", "Type"),
    ),
    "AWS::Bedrock::Guardrail": (),
    "AWS::Bedrock::GuardrailVersion": (("Description",), ("GuardrailIdentifier",)),
}
WITHOUT_EFFECT = (
    # Schemas of events, for whoever writes a consumer in the AWS console.
    "AWS::EventSchemas::Registry",
    "AWS::EventSchemas::Schema",
)

_CODES = {
    "AccessDeniedException": "AccessDenied",
    "ConflictException": "AlreadyExists",
    "NotFoundException": "NotFound",
    "ResourceNotFoundException": "NotFound",
    "ServiceQuotaExceededException": "ServiceLimitExceeded",
    "ThrottlingException": "Throttling",
    "ValidationException": "InvalidRequest",
}

Made = tuple[str, Mapping[str, str]]  # physical id, and what Fn::GetAtt answers


class TypeRefused(Exception):
    """A refusal as AWS's handler of a resource type reports it in a stack's event."""

    def __init__(self, error: Exception, *, deleting: bool = False) -> None:
        code = code_of(error)
        if deleting and code == "AlreadyExists":
            code = "ResourceConflict"
        super().__init__(f'Resource handler returned message: "{error}" (HandlerErrorCode: {code})')


def code_of(error: Exception) -> str:
    """Return CloudFormation's name of an API's error."""
    if isinstance(error, NotStabilised):
        return "NotStabilized"
    answer: Mapping[str, Any] = getattr(error, "response", {})  # of boto3's errors of an API
    name = answer.get("Error", {}).get("Code", "")
    # botocore refuses what is no request at all: a wrong type, an unknown or a missing member
    return _CODES.get(name, "GeneralServiceException" if name else "InvalidRequest")


def install() -> None:
    from ministack.services.cloudformation import provisioners, stacks  # noqa: PLC0415 - its alone

    for type_, paths in CREATE_ONLY.items():
        provisioners._RESOURCE_HANDLERS[type_] = {
            "create": partial(_create, type_),
            "update": partial(_update, type_),
            "update_with_logical_id": True,
            "delete": partial(_delete, type_),
        }
        whole = tuple(path[0] for path in paths if len(path) == 1)
        provisioners._REPLACING_PROPERTIES[type_] = whole
    for type_ in WITHOUT_EFFECT:
        provisioners._RESOURCE_HANDLERS[type_] = {
            "create": lambda logical_id, properties, stack: (
                f"{stack}-{logical_id}",
                _texts(properties),
            ),
            "update": lambda physical_id, _old, new, _stack: (physical_id, _texts(new)),
            "delete": lambda _physical_id, _properties: None,
        }
    bucket = provisioners._RESOURCE_HANDLERS["AWS::S3::Bucket"]
    bucket["delete"] = partial(_delete_bucket, bucket["delete"])
    # Their handlers wait for the simulator, and meanwhile ministack has others to answer.
    waits: Callable[[str], bool] = stacks._runs_on_worker_thread
    stacks._runs_on_worker_thread = lambda type_: type_ in CREATE_ONLY or waits(type_)


def _texts(properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the text properties, as Fn::GetAtt values of a resource that is not really made."""
    return {name: value for name, value in properties.items() if isinstance(value, str)}


@cache
def _simulator() -> Simulator:
    clients = Clients(
        aws=os.environ["AWS_ENDPOINT_URL"],
        simulator=os.environ["AWS_ENDPOINT_URL_BEDROCK"],
        key=RootKey.of_environment(),
        region=REGION,
    )
    return Simulator(
        bedrock=clients("bedrock"),
        bedrock_agent=clients("bedrock-agent"),
        s3vectors=clients("s3vectors"),
    )


def _maker(type_: str) -> Maker:
    return _simulator().makers[type_]


def _create(type_: str, logical_id: str, properties: dict[str, Any], stack: str) -> Made:
    # Another name for each: what an earlier stack of this name retained keeps its own.
    # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-supplemental-name-parameters.html
    name = f"{f'{stack}-{logical_id}'.lower()[:50]}-{secrets.token_hex(6)}"
    maker = _maker(type_)
    try:
        made = maker.create(named(type_, name, properties))
        return made, maker.attributes(made)
    except Exception as error:
        raise TypeRefused(error) from error


def _update(  # noqa: PLR0917 - as ministack calls it
    type_: str,
    physical_id: str,
    old: dict[str, Any],
    new: dict[str, Any],
    stack: str,
    logical_id: str,
) -> Made:
    from ministack.services.cloudformation import provisioners  # noqa: PLC0415 - ministack's alone

    if any(_at(old, path) != _at(new, path) for path in CREATE_ONLY[type_]):
        replaced: Made = provisioners._replace_resource(
            type_, physical_id, old, new, stack, logical_id
        )
        return replaced
    try:
        _simulator().update(type_, physical_id, named(type_, physical_id, new))
        return physical_id, _maker(type_).attributes(physical_id)
    except Exception as error:
        raise TypeRefused(error) from error


def _delete(type_: str, physical_id: str, _properties: dict[str, Any]) -> None:
    try:
        _maker(type_).delete(physical_id)
    except Exception as error:
        if code_of(error) != "NotFound":
            raise TypeRefused(error, deleting=True) from error


def _delete_bucket(
    delete: Callable[[str, dict[str, Any]], None], name: str, properties: dict[str, Any]
) -> None:
    """
    "You can only delete empty buckets. Deletion fails for buckets that have contents."
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html
    """
    from botocore.exceptions import ClientError  # noqa: PLC0415 - most stacks don't need it
    from ministack.services import s3  # noqa: PLC0415 - ministack's alone

    held = s3._buckets.get(name)
    if held is not None and (held["objects"] or s3._bucket_has_versions(name)):
        why = "The bucket you tried to delete is not empty"
        error = ClientError({"Error": {"Code": "BucketNotEmpty", "Message": why}}, "DeleteBucket")
        raise TypeRefused(error, deleting=True)
    delete(name, properties)
    s3._delete_persisted_bucket(name)  # else it is there again after the next start


def _at(properties: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        properties = (properties or {}).get(name)
    return properties
