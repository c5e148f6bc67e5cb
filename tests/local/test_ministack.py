"""Patches of ministack; a new version of it may no longer need them."""

from threading import Event

import pytest
from ministack.core import iam_actions, iam_evaluator
from ministack.core.responses import AccountRegionScopedDict
from ministack.services import dynamodb, lambda_svc

from stackroom_local.ministack import table_streams
from stackroom_local.ministack.__main__ import mend

BUCKET = "arn:aws:s3:::docs"
EXPRESSIONS = (
    "_tokenize",
    "_condition_syntax_error",
    "_evaluate_condition",
)  # what DynamoDB reads them by


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo the patches after a test."""
    for name in ("_fnmatch_compile", "_resolve_condition_key"):
        monkeypatch.setattr(iam_evaluator, name, getattr(iam_evaluator, name))
    for name in ("extract_iam_action", "extract_resource_arn"):
        monkeypatch.setattr(iam_actions, name, getattr(iam_actions, name))
    for name in EXPRESSIONS:
        monkeypatch.setattr(dynamodb, name, getattr(dynamodb, name))
    monkeypatch.setattr(lambda_svc, "_execute_function", lambda_svc._execute_function)


@pytest.fixture
def mended(restored: None) -> None:
    mend()


@pytest.mark.usefixtures("mended")
@pytest.mark.parametrize(
    ("key", "pattern", "matches"),
    [
        ("alice/a\nb.txt", "alice/*", True),
        ("alice/a\n.metadata.json", "*.metadata.json", True),
        ("alice/a.metadata.json\n", "*.metadata.json", False),
        ("bob/\nalice/a.txt", "alice/*", False),
    ],
)
def test_a_wildcard_is_any_character_and_the_whole_key_is_meant(
    key: str, pattern: str, matches: bool
) -> None:
    assert iam_evaluator.fnmatch_iam_cs(f"{BUCKET}/{key}", f"{BUCKET}/{pattern}") is matches


@pytest.mark.usefixtures("mended")
@pytest.mark.parametrize("operation", ["SendMessage", "SendMessageBatch"])
def test_send_message_right_covers_batches(operation: str) -> None:
    assert action_of(operation) == "sqs:SendMessage"


@pytest.mark.usefixtures("mended")
@pytest.mark.parametrize("key", ["/bob/a.txt", "bob//a.txt"])
def test_policies_see_an_object_key_unchanged(key: str) -> None:
    assert named(f"/docs/{key}") == f"{BUCKET}/{key}"


@pytest.mark.usefixtures("mended")
@pytest.mark.parametrize(
    ("condition", "denies"),
    [
        ({"Bool": {"aws:SecureTransport": "false"}}, False),
        ({"Bool": {"aws:SecureTransport": "true"}}, True),
        ({"StringEquals": {"aws:PrincipalAccount": "000000000000"}}, True),
    ],
)
def test_to_a_policy_every_request_came_over_tls(
    condition: dict[str, dict[str, str]], denies: bool
) -> None:
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "*",
        "Condition": condition,
    }
    context = iam_evaluator.EvalContext(
        principal_arn="arn:aws:iam::000000000000:user/alice",
        principal_type="User",
        principal_account="000000000000",
        action="s3:GetObject",
        resource_arn=f"{BUCKET}/a.txt",
        region="us-east-1",
        secure_transport=False,
    )

    found = iam_evaluator.evaluate_resource_policy(
        {"Version": "2012-10-17", "Statement": [statement]}, context
    )

    assert (found.decision == "Deny") is denies


@pytest.mark.usefixtures("mended")
def test_changing_a_tokenized_expression_affects_nobody_else() -> None:
    whole = list(dynamodb._tokenize("sk = :sk"))

    dynamodb._tokenize("sk = :sk").clear()

    assert dynamodb._tokenize("sk = :sk") == whole != []


def action_of(operation: str) -> str | None:
    headers = {"x-amz-target": f"AmazonSQS.{operation}"}
    asked: str | None = iam_actions.extract_iam_action("sqs", "POST", "/", headers, b"", {})
    return asked


def named(path: str) -> str:
    """Return the resource that policies see in a PUT of the path."""
    return str(iam_actions.extract_resource_arn("s3", "PUT", path, {}, b"", {}, "", ""))


def test_no_queue_waits_for_what_reads_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    is_reading = Event()

    def read() -> bool:
        is_reading.set()
        return Event().wait()  # its function never answers

    def look_at_all() -> None:
        assert not lambda_svc._poll_dynamodb_streams()

    monkeypatch.setattr(lambda_svc, "_poll_dynamodb_streams", read)
    monkeypatch.setattr(lambda_svc, "_poll_loop", look_at_all)
    table_streams.read_beside_queues()
    assert not is_reading.is_set()

    lambda_svc._poll_loop()

    assert is_reading.wait(60)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table's stream that a function reads."""
    for module in (dynamodb, lambda_svc):
        monkeypatch.setattr(module, "get_state", module.get_state)
        monkeypatch.setattr(module, "load_persisted_state", module.load_persisted_state)
    monkeypatch.setattr(lambda_svc, "_ensure_poller", lambda: None)
    stopped_and_started(monkeypatch)
    table_streams.install()
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/2026-11-26T15:14:31.633Z"
    lambda_svc._esms["reader"] = {"UUID": "reader", "EventSourceArn": arn}


def stopped_and_started(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_stream_records", "_stream_trimmed"):
        monkeypatch.setattr(dynamodb, name, AccountRegionScopedDict())
    for name in ("_esms", "_dynamodb_stream_positions"):
        monkeypatch.setattr(lambda_svc, name, AccountRegionScopedDict())


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("is_of_before", [False, True])
def test_unread_stream_records_are_delivered_after_a_restart(
    monkeypatch: pytest.MonkeyPatch, is_of_before: bool
) -> None:
    dynamodb._stream_records["t"] = [{"eventID": each} for each in ("a", "b", "c")]
    dynamodb._stream_trimmed["t"] = 3  # others, of yesterday
    lambda_svc._dynamodb_stream_positions["reader"] = 5
    tables, functions = dynamodb.get_state(), lambda_svc.get_state()
    if is_of_before:
        tables.pop("unread_of_streams")

    stopped_and_started(monkeypatch)
    dynamodb.load_persisted_state(tables)
    lambda_svc.load_persisted_state(functions)
    dynamodb._stream_records.setdefault("t", []).append({"eventID": "d"})

    position = lambda_svc._dynamodb_stream_positions["reader"]
    left = [each["eventID"] for each in dynamodb.stream_records_since("t", position, 10)]
    assert left == (["d"] if is_of_before else ["c", "d"])
