"""The rights of roles: a function must have no right that docs/permissions.md doesn't list."""

from collections import defaultdict
from typing import Any

from tests.campaigns.permissions.report import DOCUMENT, documented
from tests.campaigns.permissions.roles import roles
from tests.infra.assembly import Assembly, as_list
from tests.infra.synthesis import deployment

DOCUMENTS = "stackroom-kb-docs-{account}-{region}"


def test_permissions_page_lists_every_right_with_a_use() -> None:
    recorded = roles(deployment("reading scans"))  # as tests/campaigns/permissions deploys it
    granted = {each for role in recorded.values() for each in role.used_by_code}
    text = DOCUMENT.read_text("utf-8")

    assert documented(text) == granted, "run: make permissions"
    assert "0 were not allowed" in " ".join(text.split())
    assert "(unused)" not in text


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
