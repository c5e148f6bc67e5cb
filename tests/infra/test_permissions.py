"""The rights of roles: a function must have no right that docs/permissions.md doesn't list."""

from collections import defaultdict
from typing import Any

import pytest

from tests.campaigns.permissions.needs import Names, needs
from tests.campaigns.permissions.report import DOCUMENT, documented
from tests.campaigns.permissions.roles import roles
from tests.infra.assembly import Assembly, as_list
from tests.infra.synthesis import deployment

DOCUMENTS = "stackroom-kb-docs-{account}-{region}"


def test_permissions_page_lists_every_right_with_a_use() -> None:
    recorded = roles(deployment("prewarmed"))  # as tests/campaigns/permissions deploys it
    granted = {each for role in recorded.values() for each in role.used_by_code}
    text = DOCUMENT.read_text("utf-8")

    assert documented(text) == granted, "run: make permissions"
    assert "0 were not allowed" in " ".join(text.split())
    assert "(unused)" not in text


def test_functions_that_ingest_or_delete_documents_have_both_rights(
    assembly: Assembly,
) -> None:
    names, given = Names(account="0" * 12, region="-"), {"knowledgeBaseId": "KnowledgeBase1"}
    line = {"service": "bedrock-agent", "parameters": given, "wanted_by": ""}

    doing = {
        (role.function, name): [role.allows(need) for need in needs(called, names)]
        for role in roles(assembly).values()
        for name in ("IngestKnowledgeBaseDocuments", "DeleteKnowledgeBaseDocuments")
        if f"bedrock:{name}" in {grant.action for grant in role.grants}
        for called in [{**line, "function": role.function, "operation": name}]
    }

    assert {function for function, _ in doing} == {"ingest", "reconciler"}
    assert {each for each, allowed in doing.items() if allowed != [True, True]} == set()


def test_state_machine_and_gateway_invoke_their_functions_only(
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


def test_services_assume_roles_for_this_account_only(assembly: Assembly) -> None:
    """Except Lambda, which sends no source when it assumes a function's role."""
    trusts = [
        statement
        for stack in assembly.stacks
        for role in assembly.all(stack, "AWS::IAM::Role")
        for statement in role.properties["AssumeRolePolicyDocument"]["Statement"]
        if statement["Principal"].get("Service", "lambda.amazonaws.com") != "lambda.amazonaws.com"
    ]

    services = sorted(each["Principal"]["Service"].partition(".")[0] for each in trusts)
    assert services == ["bedrock", "bedrock-agentcore", "states"]
    for each in trusts:
        assert each["Condition"]["StringEquals"] == {"aws:SourceAccount": "{account}"}
        assert ":{account}:" in each["Condition"]["ArnLike"]["aws:SourceArn"]


def test_uploaders_may_only_use_the_prefix_of_their_tag(assembly: Assembly) -> None:
    policy = assembly.one("data", "AWS::IAM::ManagedPolicy")

    statements = policy.properties["PolicyDocument"]["Statement"]

    own_keys = "${aws:PrincipalTag/user_id}/*"
    [(_, as_list), (objects, changed)] = sorted(_flattened(statements).items())
    assert (objects, changed) == (
        f"{DOCUMENTS}/{own_keys}",
        _actions(
            "s3: PutObject GetObject DeleteObject AbortMultipartUpload ListMultipartUploadParts"
        ),
    )
    assert as_list == {"s3:ListBucket"}
    [listing] = [each for each in statements if each["Action"] == "s3:ListBucket"]
    assert listing["Condition"] == {"StringLike": {"s3:prefix": own_keys}}


def test_only_signed_in_users_of_the_pool_become_uploaders(assembly: Assembly) -> None:
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
    "TextsAreTheReaders": ("s3: PutObject", "_text/*", ["inspect"]),
    "TextsGoWithTheirDocuments": (
        "s3: DeleteObject DeleteObjectVersion",
        "_text/*",
        ["inspect", "ingest", "status-poller", "reconciler", "catalog-tools", "console"],
    ),
}


@pytest.mark.parametrize("sid", OURS)
def test_bucket_denies_sidecars_and_texts_to_other_roles(assembly: Assembly, sid: str) -> None:
    policy = assembly.one("data", "AWS::S3::BucketPolicy").properties["PolicyDocument"]
    actions, keys, functions = OURS[sid]

    [statement] = [each for each in policy["Statement"] if each.get("Sid") == sid]

    others = [arn for each in functions for arn in _as(f"stackroom-{each}-{{region}}")]
    assert (statement["Effect"], statement["Principal"]) == ("Deny", {"AWS": "*"})
    assert set(as_list(statement["Action"])) == _actions(actions)
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
    # A Permission besides the policy would undo it.
    assert assembly.all("gateway", "AWS::Lambda::Permission") == []


def _as(role: str) -> list[str]:
    """Return the principals of a role: itself and its sessions."""
    return [
        f"arn:aws:iam::{{account}}:role/{role}",
        f"arn:aws:sts::{{account}}:assumed-role/{role}/*",
    ]


def _flattened(statements: list[dict[str, Any]]) -> dict[str, set[str]]:
    granted: dict[str, set[str]] = defaultdict(set)
    for statement in statements:
        assert statement["Effect"] == "Allow"
        for resource in as_list(statement["Resource"]):
            granted[_short(resource)] |= set(as_list(statement["Action"]))
    return dict(granted)


def _actions(text: str) -> set[str]:
    service, *names = text.split()
    return {f"{service}{name}" for name in names}


def _short(arn: str) -> str:
    return arn if arn == "*" else arn.split(":", 5)[5]
