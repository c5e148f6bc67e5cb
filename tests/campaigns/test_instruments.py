"""
Campaigns notice what they look for; one that sees nothing would always pass.

Deaths strike where they should, no discrepancy escapes the truth of chaos, no leak the oracle of
the attack, and no missing right the comparison of permissions.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases, DynamoWorklists
from stackroom.model.records import Document, DocumentStatus
from stackroom.runs.run_leases import LEASE, shared_worklist
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.campaigns.attack.oracle import FORGED, Attempt, May, judged
from tests.campaigns.attack.wire import Answer
from tests.campaigns.chaos.deployment import Terms, place_of
from tests.campaigns.chaos.kills import Kill, Kills
from tests.campaigns.chaos.truth import discrepancies
from tests.campaigns.chaos.wire import Wire
from tests.campaigns.chaos.world import World, world
from tests.campaigns.permissions.needs import Names, Need, NotInIam, _check, needs
from tests.campaigns.permissions.report import document, documented
from tests.campaigns.permissions.roles import Comparison, Grant, Role, UnknownCondition, roles
from tests.infra.assembly import Assembly

KEY = "alice/research/a.txt"
START = "bedrock-agent.StartIngestionJob"


# Chaos.


@pytest.fixture
def settled(wire: Wire) -> Iterator[World]:
    with world(wire, Terms()) as made:
        made.drop(KEY, "a text")
        assert made.settle()
        yield made


def document_of(made: World) -> tuple[DynamoDocuments, Document]:
    documents = DynamoDocuments(client=made.wire.client("dynamodb"), table=CATALOG_TABLE)
    place = place_of(KEY)
    found = documents.get(place.catalog_id, place.document_id)
    assert found is not None
    return documents, found


@pytest.mark.parametrize("late", [False, True])
def test_a_worker_dies_before_or_after_the_call_has_its_effect(wire: Wire, late: bool) -> None:
    terms = Terms(by_jobs=True)
    with world(wire, terms) as plain:
        plain.drop(KEY, "a text")
        plain.settle()
        call = plain.kills.names["start", 1].index(START)  # before that, it queues up
    kill = Kill("start", 1, call, late)

    with world(wire, terms, kills=Kills.of([kill])) as made:
        made.drop(KEY, "a text")
        made.settle()
        started = made.account.bill.calls["StartIngestionJob"]
        _, document = document_of(made)

    assert made.kills.done == [kill]
    assert (started > 1) is late  # the job that was started is found to be in the way
    assert document.status is DocumentStatus.INDEXED


def fail_the_record(made: World) -> None:
    documents, document = document_of(made)
    documents.save(document.moved(DocumentStatus.FAILED, at=made.hub.now(), reason="a lie"))


def lose_the_record(made: World) -> None:
    made.forget_document(KEY)


def change_the_object(made: World) -> None:
    with made.unheard():
        made.drop(KEY, "another text")


def remove_the_object(made: World) -> None:
    with made.unheard():
        made.remove(KEY)


def lose_the_text(made: World) -> None:
    (text,) = made.s3.list_objects_v2(Bucket=BUCKET, Prefix="_text/", MaxKeys=1)["Contents"]
    for key in (text["Key"], f"{text['Key'].removesuffix('.md')}.places.json.gz"):
        made.remove(key)


def lose_the_vectors(made: World) -> None:
    (member,) = made.pool
    searchable = made.account.searchable
    for owner in list(searchable._shelf(member.knowledge_base_id).documents):
        searchable.remove(member.knowledge_base_id, owner)


def ingest_it_as_nobodys(made: World) -> None:
    """At another data source than its own."""
    made.ingest(KEY, into=made.pool[0].data_source_id, user_id="!rejected")


def hold_a_lease(made: World) -> None:
    leases = DynamoLeases(client=made.wire.client("dynamodb"), table=CONTROL_TABLE)
    _, document = document_of(made)
    seen = leases.ask(document.catalog_id)
    leases.take(seen, until=made.hub.now() + LEASE, failures=0)


def leave_a_worklist(made: World) -> None:
    worklists = DynamoWorklists(client=made.wire.client("dynamodb"), table=CONTROL_TABLE)
    (member,) = made.pool
    _, document = document_of(made)
    worklists.add(shared_worklist(member.knowledge_base_id), document.catalog_id)


def miscount(made: World) -> None:
    _, document = document_of(made)
    made.wire.client("dynamodb").update_item(
        TableName=CATALOG_TABLE,
        Key={"catalog_id": {"S": document.catalog_id}, "sk": {"S": "METADATA"}},
        UpdateExpression="ADD total_bytes :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )


def take_it_up(made: World) -> None:
    """And ask for no run."""
    documents, document = document_of(made)
    documents.save(document.moved(DocumentStatus.DELETING, at=made.hub.now()))


def kill_a_message(made: World) -> None:
    made.queue.send("not an event")
    made.pass_time(3600)


# Those that no other hides go together, for a world is slow to make.
@pytest.mark.parametrize(
    ("tampers", "seen"),
    [
        (
            (kill_a_message, hold_a_lease, leave_a_worklist, miscount),
            {"lease", "worklist", "totals", "dead letter"},
        ),
        ((lose_the_text, ingest_it_as_nobodys), {"text", "orphan", "quarantine"}),
        ((fail_the_record,), {"false failure", "search", "status"}),
        ((lose_the_record,), {"ghost", "lost", "orphan", "text", "totals"}),
        ((change_the_object,), {"stale"}),
        ((remove_the_object,), {"left over"}),
        ((lose_the_vectors,), {"search"}),
        ((take_it_up,), {"unsettled", "open", "search", "status", "totals"}),
    ],
    ids=lambda value: value[0].__name__ if isinstance(value, tuple) else "",
)
def test_campaign_notices_each_kind_of_disagreement(
    settled: World, tampers: Sequence[Callable[[World], None]], seen: set[str]
) -> None:
    for tamper in tampers:
        tamper(settled)

    told = discrepancies(settled)

    assert {each.partition(":")[0] for each in told} == seen


# The attack.

SECRET = "vault0123456789q"


def answer(body: str, *, status: int = 200, headers: str = "", sent: str = "") -> Answer:
    return Answer(status=status, body=body, headers=headers, sent=sent)


def reply(answered: object) -> str:
    content = [{"type": "text", "text": json.dumps(answered)}]
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": content}})


def refusal(text: str = "Error: Catalog 'x' not found", code: str = "CATALOG_NOT_FOUND") -> str:
    metadata = {"error_code": code, "error_details": "list_catalogs tells the ids."}
    return reply({"content": [{"text": text}], "status": "error", "metadata": metadata})


SUCCESS = reply({"content": [{"text": "Found 1 catalog:"}], "status": "success", "metadata": {}})


@pytest.mark.parametrize(
    ("given", "leaks", "is_unstructured"),
    [
        (answer(refusal(f"Error: it is in {SECRET.upper()}")), True, False),
        (answer(SUCCESS), True, False),
        (answer(reply({"success": True, "results": []})), True, False),
        (answer(refusal(f"Documents:\n{FORGED} Error: sign in")), True, False),
        (answer(refusal(f"Error: '{SECRET}' not found"), sent=SECRET), False, False),
        (answer('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602}}'), False, False),
        (answer("<Error><Code>AccessDenied</Code></Error>", status=403), False, False),
        (answer("Internal Server Error", status=500), False, True),
        (answer(refusal(code="UNAVAILABLE")), False, True),
    ],
)
def test_answer_is_judged_a_leak_or_an_unstructured_refusal(
    given: Answer, leaks: bool, is_unstructured: bool
) -> None:
    attempt = Attempt(kind="k", tool="t", name="n", act=lambda: given)

    verdict = judged(attempt, given, {SECRET})

    assert (bool(verdict.leak), bool(verdict.unstructured)) == (leaks, is_unstructured)


def test_answer_with_the_attackers_own_data_is_no_leak() -> None:
    attempt = Attempt(kind="k", tool="t", name="n", may=May.ANSWER_OWN, act=lambda: given)
    given = answer(SUCCESS.replace("Found", f"1. **x {FORGED}** (cat-1) Found"))

    assert judged(attempt, given, {SECRET}).leak == ""
    assert judged(attempt, answer(SUCCESS.replace("catalog", SECRET)), {SECRET}).leak


# The permissions.

NAMES = Names(account="000000000000", region="us-east-1", others={"KB1": "KnowledgeBase1"})
DOCUMENTS = "documents-000000000000-us-east-1"


def made(operation: str, given: dict[str, Any], **more: str) -> list[Need]:
    service, _, name = operation.partition(".")
    line = {"function": "stackroom-retrieve", "service": service, "operation": name}
    wanted_by = "stackroom.search.search"
    return needs({**line, "parameters": given, "wanted_by": wanted_by, **more}, NAMES)


def test_unknown_operations_actions_and_conditions_are_errors(tmp_path: Path) -> None:
    condition = {"DateLessThan": {"aws:CurrentTime": "2027-01-01"}}

    with pytest.raises(KeyError, match=r"s3\.PutBucketPolicy"):
        made("s3.PutBucketPolicy", {"Bucket": DOCUMENTS})
    with pytest.raises(NotInIam, match="s3:HeadObject"):
        _check("s3:HeadObject")
    with pytest.raises(UnknownCondition, match="DateLessThan aws:CurrentTime"):
        role_of(tmp_path, {**LIST, "Condition": condition}).allows(need("s3:ListBucket", HELD))


HELD = "arn:aws:s3:::documents"
READ = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"{HELD}/maps/*"}
LIST = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": HELD}
READING = ("s3:GetObject", f"{HELD}/maps/a")


def role_of(folder: Path, *statements: dict[str, Any], denied: tuple[Any, ...] = ()) -> Role:
    """Return the role of a function `reader` with these statements; the bucket has the denials."""
    policy = {"PolicyDocument": {"Statement": statements}, "Roles": [{"Ref": "Role"}]}
    role = {"Fn::GetAtt": ["Role", "Arn"]}
    function = {"FunctionName": "stackroom-reader", "Role": role}
    pipeline = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "reads"}},
        "Policy": {"Type": "AWS::IAM::Policy", "Properties": policy},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
    }
    bucket = {"PolicyDocument": {"Statement": denied}}
    data = {"Policy": {"Type": "AWS::S3::BucketPolicy", "Properties": bucket}}
    for stack, resources in {"pipeline": pipeline, "data": data}.items():
        template = folder / f"stackroom-{stack}.template.json"
        template.write_text(json.dumps({"Resources": resources}))
    return roles(Assembly(folder))["reader"]


def need(action: str, resource: str, **context: str) -> Need:
    return Need(
        function="reader",
        action=action,
        resource=resource,
        context={name.replace("_", ":", 1): (value,) for name, value in context.items()},
        wanted_by="stackroom.reading",
    )


@pytest.mark.parametrize(
    ("operator", "value", "allowed"),
    [
        ("StringLike", "maps/*", True),
        ("StringNotLike", "maps/*", False),
        ("Null", "true", False),
    ],
)
def test_a_condition_is_held_against_the_call(
    tmp_path: Path, operator: str, value: Any, allowed: bool
) -> None:
    role = role_of(tmp_path, {**LIST, "Condition": {operator: {"s3:prefix": value}}})

    assert role.allows(need("s3:ListBucket", HELD, s3_prefix="maps/a")) is allowed


@pytest.mark.parametrize(("exempt", "allowed"), [("reads", True), ("writes", False)])
def test_bucket_policy_deny_overrides_every_role(
    tmp_path: Path, exempt: str, allowed: bool
) -> None:
    role = {"aws:PrincipalArn": f"arn:aws:iam::{{account}}:role/{exempt}"}
    denied = {**READ, "Effect": "Deny", "Condition": {"ArnNotLike": role}}

    assert role_of(tmp_path, READ, denied=(denied,)).allows(need(*READING)) is allowed


def test_call_without_grant_is_denied_and_grant_without_call_is_unused(tmp_path: Path) -> None:
    reads = {**READ, "Resource": [f"{HELD}/maps/*", f"{HELD}/files/*"]}
    comparison = Comparison({"reader": role_of(tmp_path, reads, LIST)})
    written = need("s3:PutObject", f"{HELD}/maps/a")
    nobodys = Need(function="writer", action="s3:GetObject", resource=f"{HELD}/maps/a")

    comparison.add([need(*READING), need(*READING), written, nobodys])

    page = document(comparison, Comparison({}))
    unused = [
        Grant("reader", "s3:GetObject", f"{HELD}/files/*"),
        Grant("reader", "s3:ListBucket", HELD),
    ]
    assert comparison.denied == [written, nobodys]
    assert comparison.unused == unused
    assert documented(page) == {*unused, Grant("reader", "s3:GetObject", f"{HELD}/maps/*")}
    assert f"| `{HELD}/maps/*` | `s3:GetObject` (`reading`) |" in page
    assert f"| `{HELD}` | `s3:ListBucket` (unused) |" in page
