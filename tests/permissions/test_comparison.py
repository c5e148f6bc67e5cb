"""What a role allows, what is denied, what is unused; and the page that tells of it."""

from typing import Any

import pytest

from tests.permissions.comparison import Comparison
from tests.permissions.conftest import MakeRole
from tests.permissions.needs import Need
from tests.permissions.report import document, documented, summary
from tests.permissions.roles import Grant, UnknownCondition

BUCKET = "arn:aws:s3:::documents"
READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"{BUCKET}/maps/*"}
LIST = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": BUCKET}


def need(action: str, resource: str, **context: str) -> Need:
    return Need(
        function="reader",
        action=action,
        resource=resource,
        context={name.replace("_", ":", 1): (value,) for name, value in context.items()},
        wanted_by="stackroom.reading",
    )


@pytest.mark.parametrize(
    ("action", "resource", "allowed"),
    [
        ("s3:GetObject", f"{BUCKET}/maps/a", True),
        ("s3:getobject", f"{BUCKET}/maps/a", True),
        ("s3:GetObject", f"{BUCKET}/maps/on two\nlines", True),
        ("s3:GetObject", f"{BUCKET}/Maps/a", False),
        ("s3:GetObject", f"{BUCKET}/map", False),
        ("s3:GetObjectVersion", f"{BUCKET}/maps/a", False),
        ("s3:ListBucket", BUCKET, True),
        ("s3:ListBucket", f"{BUCKET}/maps/a", False),
    ],
)
def test_a_role_allows_an_action_on_what_its_pattern_matches(
    role_of: MakeRole, action: str, resource: str, allowed: bool
) -> None:
    assert role_of(READ, LIST).allows(need(action, resource)) is allowed


@pytest.mark.parametrize(
    ("condition", "prefix", "allowed"),
    [
        ({"StringEquals": {"s3:prefix": ["maps/"]}}, "maps/", True),
        ({"StringEquals": {"s3:prefix": "maps/"}}, "maps/a", False),
        ({"StringLike": {"s3:prefix": "maps/*"}}, "maps/a", True),
        ({"StringLike": {"s3:prefix": "maps/*"}}, "alice/", False),
        ({"StringNotLike": {"s3:prefix": "maps/*"}}, "alice/", True),
        ({"ForAllValues:StringEquals": {"s3:prefix": ["maps/"]}}, "maps/", True),
        ({"ForAllValues:StringEquals": {"s3:prefix": ["maps/"]}}, "alice/", False),
        ({"Null": {"s3:prefix": "false"}}, "alice/", True),
        ({"Null": {"s3:prefix": "true"}}, "alice/", False),
    ],
)
def test_a_condition_is_held_against_the_call(
    role_of: MakeRole, condition: dict[str, Any], prefix: str, allowed: bool
) -> None:
    role = role_of({**LIST, "Condition": condition})

    assert role.allows(need("s3:ListBucket", BUCKET, s3_prefix=prefix)) is allowed


def test_a_condition_of_an_unknown_kind_is_not_taken_for_granted(role_of: MakeRole) -> None:
    role = role_of({**LIST, "Condition": {"DateLessThan": {"aws:CurrentTime": "2027-01-01"}}})

    with pytest.raises(UnknownCondition, match="DateLessThan aws:CurrentTime"):
        role.allows(need("s3:ListBucket", BUCKET))


@pytest.mark.parametrize(("exempt", "allowed"), [("reads", True), ("writes", False)])
def test_what_the_bucket_denies_no_role_allows(
    role_of: MakeRole, exempt: str, allowed: bool
) -> None:
    denied = {
        "Effect": "Deny",
        "Principal": {"AWS": "*"},
        "Action": "s3:GetObject",
        "Resource": f"{BUCKET}/*",
        "Condition": {
            "ArnNotLike": {"aws:PrincipalArn": f"arn:aws:iam::{{account}}:role/{exempt}"}
        },
    }

    assert role_of(READ, denied=(denied,)).allows(need(*_READING)) is allowed


_READING = ("s3:GetObject", f"{BUCKET}/maps/a")


def test_a_call_without_a_right_is_denied_and_a_right_without_a_call_unused(
    role_of: MakeRole,
) -> None:
    comparison = Comparison({"reader": role_of(READ, LIST)})

    comparison.add([need(*_READING), need(*_READING), need("s3:PutObject", f"{BUCKET}/maps/a")])

    assert [each.action for each in comparison.denied] == ["s3:PutObject"]
    assert comparison.unused == [Grant("reader", "s3:ListBucket", BUCKET)]


def test_a_pattern_that_nothing_met_is_unused_though_its_action_was_called(
    role_of: MakeRole,
) -> None:
    comparison = Comparison(
        {"reader": role_of({**READ, "Resource": [f"{BUCKET}/maps/*", f"{BUCKET}/files/*"]})}
    )

    comparison.add([need(*_READING)])

    assert [each.resource for each in comparison.unused] == [f"{BUCKET}/files/*"]


def test_whoever_has_no_role_may_do_nothing(role_of: MakeRole) -> None:
    comparison = Comparison({})

    comparison.add([need(*_READING)])

    assert len(comparison.denied) == 1


def test_what_lambda_does_with_the_role_is_not_the_codes_affair(role_of: MakeRole) -> None:
    logs = "arn:aws:logs:{region}:{account}:log-group:/aws/lambda/stackroom-reader:*"
    own = {"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": logs}
    foreign = {**own, "Resource": logs.replace("reader", "writer")}
    queue = {"Effect": "Allow", "Action": "sqs:ReceiveMessage", "Resource": "arn:aws:sqs:::nobodys"}

    granted = role_of(own, foreign, queue).used_by_code

    assert {each.resource for each in granted} == {foreign["Resource"], queue["Resource"]}


def test_the_page_lists_each_right_with_its_use(role_of: MakeRole) -> None:
    comparison = Comparison({"reader": role_of(READ, LIST)})
    comparison.add([need(*_READING)])

    page = document(comparison, Comparison({}))

    assert documented(page) == {
        Grant("reader", "s3:GetObject", f"{BUCKET}/maps/*"),
        Grant("reader", "s3:ListBucket", BUCKET),
    }
    assert f"| `s3:GetObject` | `{BUCKET}/maps/*` | 1 | `reading` |" in page
    assert f"| `s3:ListBucket` | `{BUCKET}` | 0 | nobody |" in page
    assert summary(comparison).splitlines()[1].split() == ["reader", "1", "0", "2", "1"]
