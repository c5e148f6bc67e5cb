"""
Runs ministack, with corrections where it differs from AWS, and with services that it lacks.

Functions' processes are forked from one (function_processes.fork_server), and others' functions
that run a handler of ours run from this project (deployment.function_packages). Functions have
resource policies (deployment.resource_policies), CloudFormation has Bedrock's and S3 Vectors' types
(deployment.simulated_types), AgentCore Runtime has agents (agent_runtimes), and CloudWatch has the
metrics in functions' logs (embedded_metrics), and metric math (metric_queries). Lambda passes
client contexts on (client_contexts). It refuses other
sites' pages (bedrock_kb_simulator.page_guard) and uploads that its disk has no room for
(room_guard); tables and queues have room on the disk for when it stops (disk_reserve), and tables'
streams outlive that, and don't delay queues (table_streams). IAM verifies every signature (signers)
and is corrected in four ways, DynamoDB parses an expression once, and queues serve tenants in turn.

`python -m stackroom_local.ministack`. To policies every request came over TLS: the servers of the
local mode speak plain HTTP to 127.0.0.1, where nobody can listen in, and policies that deny
requests "not over TLS", as the CDK's `enforce_ssl` does, would deny every one.

It also corrects four faults of version 1.5.33. Its IAM takes a line break for the end of a key,
while S3 allows line breaks in keys and a policy's wildcard matches any character [IAM user guide:
reference_policies_elements_resource]; ministack compiles `*` to `.*`, so that no policy but `*`
itself allows, or denies, anything about such a key. It drops the empty parts of a key, so that
someone who may put `bob/*` could put `/bob/a.txt`. It treats a batch of messages as an action of
its own, where AWS checks `sqs:SendMessage` for SendMessageBatch, too [SQS developer guide:
sqs-api-permissions-reference]. And it drops a stream's records that a function reports as failed;
here the whole batch comes again, where AWS begins at the first of them [Lambda developer guide:
services-ddb-batchfailurereporting]. Check a new version with tests/local/test_ministack.py, which
says whether it still has the faults.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from ministack.core import iam_actions, iam_evaluator
from ministack.services import dynamodb, lambda_svc, sqs

from bedrock_kb_simulator.access_keys import RootKey
from stackroom_local.deployment import function_packages, resource_policies, simulated_types
from stackroom_local.ministack import (
    agent_runtimes,
    client_contexts,
    embedded_metrics,
    metric_queries,
    signers,
    table_streams,
)
from stackroom_local.state import ACCOUNT, REGION

# Standard queues of ministack that let tenants have their turns, as those of SQS do.
#
# A message names its tenant as its group; one without is of a tenant of its own. While a tenant
# has more than a tenth of what is in flight, messages of others are delivered before its own. SQS
# asks for thirty of its messages in flight, too, or looks at how long its messages take [SQS
# developer guide: sqs-fair-queues-detailed]; here never so many are in flight.

_SHARE = 0.1  # of what is in flight, beyond which a tenant is busy

_Collect = Callable[[dict[str, Any], int, int], list[dict[str, Any]]]


def deliver_in_turn() -> None:
    collect: _Collect = sqs._collect_msgs
    sqs._collect_msgs = lambda queue, most, hidden: collect(in_turn(queue), most, hidden)


def deliver_groups_beside_each_other() -> None:
    """
    Deliver several groups of a FIFO queue at once, in batches of a single message.

    ministack works on one batch of such a queue at a time, because a batch may have several groups.
    """
    most: Callable[..., int] = lambda_svc._sqs_esm_concurrency

    def at_once(esm: dict[str, Any], function: Any, config: Any, queue: Any = None) -> int:
        return most(esm, function, config, None if esm.get("BatchSize") == 1 else queue)

    lambda_svc._sqs_esm_concurrency = at_once


def in_turn(queue: dict[str, Any]) -> dict[str, Any]:
    """Return the queue with its messages in another order."""
    if queue["is_fifo"]:
        return queue
    now = time.time()
    messages = list(queue["messages"])
    in_flight = [each for each in messages if each["visible_at"] > now and each["receive_count"]]
    counts = Counter(each["group_id"] for each in in_flight if each.get("group_id"))
    busy = {group for group, count in counts.items() if count > _SHARE * len(in_flight)}
    return {**queue, "messages": sorted(messages, key=lambda each: each.get("group_id") in busy)}


# https://docs.aws.amazon.com/AmazonS3/latest/userguide/amazon-s3-policy-keys.html#example-object-tls-version
_TLS = {"aws:securetransport": "true", "s3:tlsversion": "1.3"}
# Whoever takes a role here for a service does so for this account, and with such a condition for
# its gateway; ministack leaves both unsaid.
_SOURCES = {
    "aws:sourceaccount": ACCOUNT,
    "aws:sourcearn": f"arn:aws:bedrock-agentcore:{REGION}:{ACCOUNT}:gateway/local",
}
_ANY = {"*": ".*", "?": "."}
# Its own paths, and those that its own functions, and whoever waits for it, ask. What resets it or
# changes its configuration is nobody's to ask from outside.
INNER = ("/_ministack", "/_localstack")
ASKED = (
    "/_ministack/health",
    "/_ministack/ready",
    "/_ministack/cfn-response/",
    "/_ministack/cfn-signal/",
    "/_ministack/lambda-code/",
    "/_ministack/lambda-layers/",
)
_EXPRESSIONS = 1024  # different ones that are kept; all of ours are some fifty
_PAUSE = 1.0  # seconds, between looks and if it fails again and again


@lru_cache(4096)
def wildcard(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """Compile a policy's pattern to match the whole text, however many lines it has."""
    expression = "".join(_ANY.get(each) or re.escape(each) for each in pattern)
    return re.compile(rf"{expression}\Z", re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def mend() -> None:
    iam_evaluator._fnmatch_compile = wildcard
    value_of: Callable[[str, Any], Any] = iam_evaluator._resolve_condition_key

    def value(key: str, context: Any) -> Any:
        if key.lower() in _SOURCES and context.action == "sts:AssumeRole":
            return _SOURCES[key.lower()]
        return _TLS[key.lower()] if key.lower() in _TLS else value_of(key, context)

    iam_evaluator._resolve_condition_key = value
    action_of: Callable[..., str | None] = iam_actions.extract_iam_action

    def action(service: str, *rest: Any) -> str | None:
        named = action_of(service, *rest)
        return named.removesuffix("Batch") if service == "sqs" and named else named

    iam_actions.extract_iam_action = action
    named: Callable[..., str] = iam_actions.extract_resource_arn

    def resource_arn(service: str, method: str, path: str, *rest: Any) -> str:
        bucket, _, key = path.removeprefix("/").partition("/")
        is_object = service == "s3" and bucket and key
        return f"arn:aws:s3:::{bucket}/{key}" if is_object else named(service, method, path, *rest)

    iam_actions.extract_resource_arn = resource_arn
    execute: Callable[..., dict[str, Any]] = lambda_svc._execute_function

    def executed(function: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
        done = execute(function, event)
        records = event.get("Records") or [{}]
        body = done.get("body")
        answer = json.loads(body) if isinstance(body, str) and body.startswith("{") else body
        is_of_stream = records[0].get("eventSource") == "aws:dynamodb"
        if is_of_stream and isinstance(answer, dict) and answer.get("batchItemFailures"):
            return {**done, "error": True, "body": {"errorType": "batchItemFailures"}}
        return done

    lambda_svc._execute_function = executed
    # A query of a large partition asks for these with each item: most of its time.
    read_tokens = lru_cache(_EXPRESSIONS)(dynamodb._tokenize)
    dynamodb._tokenize = lambda expression: list(read_tokens(expression))
    dynamodb._condition_syntax_error = lru_cache(_EXPRESSIONS)(dynamodb._condition_syntax_error)


def fork_functions(up: Path) -> None:
    """
    Have functions' processes forked as long as this process lives, once `up` exists.

    Until then the start needs the cores. Before, and on other systems, each process imports for
    itself.
    """
    if sys.platform != "linux":  # libraries of macOS break in a process that was only forked
        return
    command = [
        sys.executable,
        "-P",
        "-m",
        "stackroom_local.function_processes.fork_server",
        str(os.getpid()),
    ]

    def keep_one_running() -> None:
        while not up.exists():
            time.sleep(_PAUSE)
        while True:
            subprocess.run(command, stdin=subprocess.DEVNULL, check=False)  # noqa: S603 - our own
            time.sleep(_PAUSE)

    threading.Thread(target=keep_one_running, daemon=True).start()


if __name__ == "__main__":
    state = Path(os.environ["STATE_DIR"]).parent
    fork_functions(up=state / "instance.json")
    from ministack import app

    from bedrock_kb_simulator.page_guard import PageGuard
    from stackroom_local.ministack import room_guard
    from stackroom_local.ministack.disk_reserve import DiskReserve

    DiskReserve(state).install()
    room_guard.install()
    mend()
    signers.install(RootKey.of_environment())
    with_agents = agent_runtimes.Runtimes(app.app, state, os.environ["ISSUER_URL"])
    # Of pages that may upload to a bucket, as its CORS configuration says, too.
    with_room = room_guard.RoomGuard(with_agents, state)
    app.app = PageGuard(
        with_room, os.environ.get("PAGE_ORIGINS", "").split(), inner=INNER, allowed=ASKED
    )
    for each in (
        client_contexts,
        resource_policies,
        simulated_types,
        function_packages,
        embedded_metrics,
        metric_queries,
        table_streams,
    ):
        each.install()
    deliver_in_turn()
    deliver_groups_beside_each_other()
    table_streams.read_beside_queues()
    agent_runtimes.install(state, with_agents)
    embedded_metrics.follow(state / "logs" / "console.log")
    app.main()
