"""Who may do what, in full: a right that is not in these tables is a right too many."""

from collections import defaultdict
from typing import Any

import pytest

from tests.campaigns.permissions.report import DOCUMENT, documented
from tests.campaigns.permissions.roles import roles
from tests.infra.assembly import Assembly, listed

DOCUMENTS = "stackroom-kb-docs-{account}-{region}"
CATALOGS = "table/stackroom-kb-catalog"
CATALOGS_BY_USER = "table/stackroom-kb-catalog/index/user_id-index"
CONTROL = "table/stackroom-kb-control"
LIVE = "table/stackroom-kb-control/index/live-index"
KNOWLEDGE_BASE = "knowledge-base/KnowledgeBase1"
MACHINE = "stateMachine:stackroom-ingest-catalog"
EXECUTIONS = "execution:stackroom-ingest-catalog:*"
MODEL_ID = "amazon.nova-2-lite-v1:0"
MODEL = f"foundation-model/{MODEL_ID}"  # here, and without a region for the global profile
COOKIE_KEY = "secret:CookieKey2B1B4FB9"  # as CloudFormation calls it
ANY = "*"  # for actions that know no resources

INDEX = "index/Index1"
EMBEDDING = "foundation-model/amazon.titan-embed-text-v2:0"
LOOKING = "s3vectors: QueryVectors GetVectors GetIndex"
SEARCHING = {
    KNOWLEDGE_BASE: "bedrock: Retrieve",
    INDEX: LOOKING,
    EMBEDDING: "bedrock: InvokeModel",
}
ASKING = {
    MODEL: "bedrock: InvokeModel",
    f"inference-profile/global.{MODEL_ID}": "bedrock: InvokeModel GetInferenceProfile",
}
RUNNING = {MACHINE: "states: StartExecution", EXECUTIONS: "states: DescribeExecution"}
SIDECARS = {f"{DOCUMENTS}/*.metadata.json": "s3: PutObject DeleteObject"}
# By function, by resource (the ARN after account and region): the actions and nothing else.
RIGHTS = {
    ("knowledge-base", "search-index"): {
        INDEX: "s3vectors: GetIndex UpdateIndexMode UpdateMetadataConfiguration",
        "bucket/stackroom-vectors-{account}-{region}": "s3vectors: PutVectorBucketDefaultIndexMode",
    },
    ("pipeline", "upload-handler"): {
        CATALOGS: "dynamodb: GetItem PutItem UpdateItem DeleteItem",
        CONTROL: "dynamodb: GetItem PutItem UpdateItem",
        DOCUMENTS: "s3: ListBucket",
        f"{DOCUMENTS}/*": "s3: GetObject",
        **SIDECARS,
        **RUNNING,
    },
    ("pipeline", "inspect"): {
        CATALOGS: "dynamodb: GetItem PutItem",
        CONTROL: "dynamodb: PutItem",
        DOCUMENTS: "s3: ListBucket",
        f"{DOCUMENTS}/*": "s3: GetObject",
        f"{DOCUMENTS}/_pagemaps/*": "s3: PutObject DeleteObject",
    },
    ("pipeline", "ingest"): {
        CATALOGS: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query",
        CONTROL: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query",
        LIVE: "dynamodb: Query",
        DOCUMENTS: "s3: ListBucket",
        f"{DOCUMENTS}/*.metadata.json": "s3: GetObject",
        KNOWLEDGE_BASE: "bedrock: CreateDataSource ListDataSources GetDataSource UpdateDataSource"
        " DeleteDataSource StartIngestionJob ListIngestionJobs IngestKnowledgeBaseDocuments"
        " DeleteKnowledgeBaseDocuments",
        INDEX: LOOKING,
        **RUNNING,
        ANY: "states: SendTaskSuccess",
    },
    ("pipeline", "status-poller"): {
        CATALOGS: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query",
        CONTROL: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query",
        KNOWLEDGE_BASE: "bedrock: GetIngestionJob StopIngestionJob ListKnowledgeBaseDocuments"
        " GetKnowledgeBaseDocuments",
        INDEX: LOOKING,
        ANY: "states: SendTaskSuccess",
    },
    ("pipeline", "reconciler"): {
        CATALOGS: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query Scan"
        " ConditionCheckItem",
        CATALOGS_BY_USER: "dynamodb: Scan",
        CONTROL: "dynamodb: GetItem PutItem UpdateItem DeleteItem Query",
        LIVE: "dynamodb: Query",
        DOCUMENTS: "s3: ListBucket",
        f"{DOCUMENTS}/*": "s3: GetObject",
        **SIDECARS,
        KNOWLEDGE_BASE: "bedrock: ListDataSources GetDataSource DeleteDataSource"
        " DeleteKnowledgeBaseDocuments GetKnowledgeBaseDocuments ListKnowledgeBaseDocuments",
        INDEX: LOOKING,
        **RUNNING,
    },
    ("gateway", "retrieve"): {
        CATALOGS: "dynamodb: GetItem BatchGetItem",
        CATALOGS_BY_USER: "dynamodb: Query",
        CONTROL: "dynamodb: GetItem PutItem",
        DOCUMENTS: "s3: ListBucket",
        f"{DOCUMENTS}/_pagemaps/*": "s3: GetObject",
        **SEARCHING,
    },
    ("gateway", "catalog-tools"): {
        CATALOGS: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query",
        CATALOGS_BY_USER: "dynamodb: Query",
        CONTROL: "dynamodb: GetItem PutItem UpdateItem DeleteItem Query",
        DOCUMENTS: "s3: ListBucket ListBucketVersions",
        f"{DOCUMENTS}/*": "s3: GetObject PutObject DeleteObject DeleteObjectVersion",
        **SEARCHING,
        **ASKING,
        **RUNNING,
    },
    ("gateway", "identity-interceptor"): {},
    ("console", "console"): {
        CATALOGS: "dynamodb: GetItem BatchGetItem PutItem UpdateItem DeleteItem Query",
        CATALOGS_BY_USER: "dynamodb: Query Scan",
        CONTROL: "dynamodb: GetItem PutItem UpdateItem DeleteItem Query",
        LIVE: "dynamodb: Query",
        DOCUMENTS: "s3: ListBucket ListBucketVersions",
        f"{DOCUMENTS}/*": "s3: GetObject PutObject DeleteObject DeleteObjectVersion",
        **SEARCHING,
        **ASKING,
        **RUNNING,
        "stackroom-agent-runs": "sqs: SendMessage",
        COOKIE_KEY: "secretsmanager: GetSecretValue",
        "dashboard/stackroom-{region}": "cloudwatch: GetDashboard",
        "alarm:stackroom-*": "cloudwatch: DescribeAlarms",
        ANY: "cloudwatch: GetMetricData",
    },
    ("console", "agent-runner"): {
        CATALOGS: "dynamodb: GetItem",
        CONTROL: "dynamodb: GetItem PutItem",
        DOCUMENTS: "s3: ListBucket",
        f"{DOCUMENTS}/_pagemaps/*": "s3: GetObject",
        **SEARCHING,
        **ASKING,
    },
}
CONSUMED = {
    "upload-handler": "stackroom-uploads",
    "inspect": "stackroom-inspections",
    "agent-runner": "stackroom-agent-runs",
}


@pytest.mark.parametrize(("stack", "function"), RIGHTS)
def test_a_function_has_exactly_its_rights(assembly: Assembly, stack: str, function: str) -> None:
    expected = _of_the_platform(function)
    for resource, text in RIGHTS[stack, function].items():
        expected[resource] |= _actions(text)

    granted = _granted(assembly, stack, f"stackroom-{function}-{{region}}")

    assert granted == expected


def test_the_page_of_recorded_use_lists_these_rights_and_a_use_of_each(assembly: Assembly) -> None:
    granted = {each for role in roles(assembly).values() for each in role.used_by_code}
    text = DOCUMENT.read_text("utf-8")

    assert documented(text) == granted, "run: make permissions"
    assert "0 were not allowed" in " ".join(text.split())
    assert "| 0 | nobody |" not in text


def test_every_function_is_in_the_table(assembly: Assembly) -> None:
    functions = {
        (stack, each.properties["FunctionName"].removeprefix("stackroom-"))
        for stack in assembly.stacks
        for each in assembly.all(stack, "AWS::Lambda::Function")
    }

    assert functions == set(RIGHTS)


def test_state_machine_and_gateway_invoke_their_functions_and_nothing_else(
    assembly: Assembly,
) -> None:
    machine, gateway = (
        _flattened(role.properties["Policies"][0]["PolicyDocument"]["Statement"])
        for role in (
            assembly.one("pipeline", "AWS::IAM::Role", "RunsIngestCatalogRole"),
            assembly.one("gateway", "AWS::IAM::Role", "GatewayRole"),
        )
    )

    def invoking(*names: str) -> dict[str, set[str]]:
        return {f"function:stackroom-{name}": {"lambda:InvokeFunction"} for name in names}

    authorize = _actions("bedrock-agentcore: AuthorizeAction PartiallyAuthorizeActions")
    token = _actions("bedrock-agentcore: GetWorkloadAccessToken")
    directory = "workload-identity-directory/default"
    [engine] = [each for each in gateway if each.startswith("policy-engine/")]
    assert machine == invoking("ingest", "status-poller")
    assert gateway == {
        **invoking("retrieve", "catalog-tools", "identity-interceptor"),
        "gateway/stackroom-*": authorize,
        engine: authorize | _actions("bedrock-agentcore: GetPolicyEngine"),
        directory: token,
        f"{directory}/workload-identity/stackroom-*": token,
    }


def test_uploaders_work_below_the_prefix_that_their_tag_names(assembly: Assembly) -> None:
    policy = assembly.one("data", "AWS::IAM::ManagedPolicy")

    statements = policy.properties["PolicyDocument"]["Statement"]

    own_keys = "${aws:PrincipalTag/user_id}/*"
    [(_, listed), (objects, changed)] = sorted(_flattened(statements).items())
    assert (objects, changed) == (
        f"{DOCUMENTS}/{own_keys}",
        _actions(
            "s3: PutObject GetObject DeleteObject AbortMultipartUpload ListMultipartUploadParts"
        ),
    )
    assert listed == {"s3:ListBucket"}
    [listing] = [each for each in statements if each["Action"] == "s3:ListBucket"]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": own_keys}}


def test_only_a_signed_in_user_of_this_pool_becomes_an_uploader(assembly: Assembly) -> None:
    role = assembly.one("gateway", "AWS::IAM::Role", "SignInUploader")
    tag = assembly.one("gateway", "AWS::Cognito::IdentityPoolPrincipalTag")

    [trust] = role.properties["AssumeRolePolicyDocument"]["Statement"]

    assert set(trust["Action"]) == {"sts:AssumeRoleWithWebIdentity", "sts:TagSession"}
    [audience] = trust["Condition"]["StringEquals"].values()
    assert audience.startswith("SignInIdentityPool")
    assert list(trust["Condition"]["ForAnyValue:StringLike"].values()) == ["authenticated"]
    assert tag.properties["PrincipalTags"] == {"user_id": "sub"}


OURS = {
    "SidecarsAreThePipelines": (
        "s3: PutObject",
        "*.metadata.json",
        ["upload-handler", "reconciler"],
    ),
    "SidecarsGoWithTheirDocuments": (
        "s3: DeleteObject DeleteObjectVersion",
        "*.metadata.json",
        ["upload-handler", "reconciler", "catalog-tools", "console"],
    ),
    "PlaceMapsAreTheInspections": (
        "s3: PutObject DeleteObject DeleteObjectVersion",
        "_pagemaps/*",
        ["inspect"],
    ),
}


@pytest.mark.parametrize("sid", OURS)
def test_the_bucket_denies_what_is_ours_to_everyone_else(assembly: Assembly, sid: str) -> None:
    policy = assembly.one("data", "AWS::S3::BucketPolicy").properties["PolicyDocument"]
    actions, keys, functions = OURS[sid]

    [statement] = [each for each in policy["Statement"] if each.get("Sid") == sid]

    others = [arn for each in functions for arn in _as(f"stackroom-{each}-{{region}}")]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", {"AWS": "*"})
    assert set(listed(statement["Action"])) == _actions(actions)
    assert statement["Resource"] == f"arn:aws:s3:::{DOCUMENTS}/{keys}"
    assert statement["Condition"] == {"ArnNotLike": {"aws:PrincipalArn": others}}


@pytest.mark.parametrize("function", ["retrieve", "identity-interceptor"])
def test_only_the_gateway_can_invoke_a_tool(assembly: Assembly, function: str) -> None:
    arn = f"arn:aws:lambda:{{region}}:{{account}}:function:stackroom-{function}"
    policies = [each.properties for each in assembly.all("gateway", "AWS::Lambda::ResourcePolicy")]

    [policy] = [each for each in policies if each["ResourceArn"] == arn]

    principals = _as("stackroom-gateway-{region}")
    allow, deny = policy["PolicyDocument"]["Statement"]
    assert (allow["Effect"], allow["Principal"]) == ("Allow", {"AWS": principals[0]})
    assert (deny["Effect"], deny["Principal"]) == ("Deny", {"AWS": "*"})
    assert allow["Action"] == deny["Action"] == "lambda:InvokeFunction"
    assert allow["Resource"] == deny["Resource"] == arn
    assert deny["Condition"] == {"ArnNotLike": {"aws:PrincipalArn": principals}}
    # One beside its policy would open it.
    assert assembly.all("gateway", "AWS::Lambda::Permission") == []


def _as(role: str) -> list[str]:
    """The principals of a role: itself, and its sessions."""
    return [
        f"arn:aws:iam::{{account}}:role/{role}",
        f"arn:aws:sts::{{account}}:assumed-role/{role}/*",
    ]


def _granted(assembly: Assembly, stack: str, role_name: str) -> dict[str, set[str]]:
    [role] = [
        each
        for each in assembly.all(stack, "AWS::IAM::Role")
        if each.properties.get("RoleName") == role_name
    ]
    assert "ManagedPolicyArns" not in role.properties
    assert "Policies" not in role.properties
    statements = [
        statement
        for policy in assembly.all(stack, "AWS::IAM::Policy")
        if role_name in policy.properties["Roles"]
        for statement in policy.properties["PolicyDocument"]["Statement"]
    ]
    return _flattened(statements)


def _flattened(statements: list[dict[str, Any]]) -> dict[str, set[str]]:
    granted: dict[str, set[str]] = defaultdict(set)
    for statement in statements:
        assert statement["Effect"] == "Allow"
        for resource in listed(statement["Resource"]):
            granted[_short(resource)] |= set(listed(statement["Action"]))
    return dict(granted)


def _of_the_platform(function: str) -> defaultdict[str, set[str]]:
    """Logs and traces of every function, and the queue that Lambda reads for it."""
    rights: defaultdict[str, set[str]] = defaultdict(set)
    rights[ANY] = _actions("xray: PutTraceSegments PutTelemetryRecords")
    log_group = f"log-group:/aws/lambda/stackroom-{function}:*"
    rights[log_group] = _actions("logs: CreateLogStream PutLogEvents")
    if function in CONSUMED:
        rights[CONSUMED[function]] = _actions(
            "sqs: ReceiveMessage DeleteMessage ChangeMessageVisibility GetQueueAttributes"
            " GetQueueUrl"
        )
    return rights


def _actions(text: str) -> set[str]:
    service, *names = text.split()
    return {f"{service}{name}" for name in names}


def _short(arn: str) -> str:
    return arn if arn == "*" else arn.split(":", 5)[5]
