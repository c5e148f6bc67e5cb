"""
Errors that keep the local mode from serving; each message says what to do.

LocalModeError
├── AlreadyUp          another process serves this state directory
├── NotOurs            the state directory is in use for something else, or damaged
├── NotUp              a command needs the local mode, and none serves this state directory
├── StillStopping      it was asked to stop and has not ended yet
├── PortTaken          another program listens on a port that was chosen
├── PartMissing        this installation lacks a file that every wheel has
├── CdkMissing         the templates must be synthesised, and the CDK is not installed
├── NodeMissing        the templates can't be synthesised without Node
├── SynthesisFailed    infra/app.py ended with an error
├── UnknownResource    a template has a resource that neither ministack nor a stand-in can make
├── DeploymentFailed   CloudFormation refused a template
├── NotStabilised      a resource of a template did not reach its final state
├── OfAnotherType      a knowledge base of another type exists under the name
├── ChildFailed        ministack, the simulator or the gateway died or never answered
└── DemoFailed         a step of the demonstration went wrong
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from stackroom.errors import StackroomError

# How this installation is called from another shell: what messages tell people to type.


def command() -> str:
    """
    Return `stackroom` if it is on the PATH everywhere, as after `pipx install`; else its path.

    The folder of this Python doesn't count: `uvx` and an activated environment put it on the PATH
    of this shell alone.
    """
    program = Path(sys.executable).with_name("stackroom")
    others = [
        each for each in os.get_exec_path() if Path(each).absolute() != program.parent.absolute()
    ]
    found = shutil.which("stackroom", path=os.pathsep.join(others))
    if found and Path(found).resolve() == program.resolve():
        return "stackroom"
    here = Path.cwd()
    return shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))


class LocalModeError(StackroomError):
    """The local mode can't go on; the message is for the person at the keyboard."""


class AlreadyUp(LocalModeError):
    def __init__(self, state_dir: Path, pid: int | None) -> None:
        by = f" by process {pid}" if pid else ""
        super().__init__(
            f"{state_dir} is already served{by}; stop it with: "
            f"{command()} down --state-dir {state_dir}"
        )


class NotOurs(LocalModeError):
    def __init__(self, state_dir: Path, why: str) -> None:
        super().__init__(
            f"{state_dir} can't be the state directory: {why}; name an empty or new one with "
            "--state-dir"
        )


class NotUp(LocalModeError):
    def __init__(self, state_dir: Path) -> None:
        super().__init__(
            f"the local mode is not running in {state_dir}; start it in another shell with:"
            f" {command()} up (another directory: --state-dir, or STACKROOM_STATE_DIR)"
        )


class StillStopping(LocalModeError):
    def __init__(self, pid: int, seconds: float) -> None:
        super().__init__(
            f"process {pid} is still saving its state {seconds:.0f} s after it was asked to stop; "
            f"wait, or end it with: kill -9 {pid}"
        )


class PortTaken(LocalModeError):
    def __init__(self, port: int, needed_by: str) -> None:
        super().__init__(
            f"port {port} on 127.0.0.1, which {needed_by} needs, is in use; stop the program there "
            "or choose four free consecutive ports with --port "
            f"{port + 1000 if port < 60_000 else port - 1000}"
            ' (with make, ARGS="--port N")'
        )


class PartMissing(LocalModeError):
    def __init__(self, name: str, root: Path) -> None:
        super().__init__(
            f"this installation of Stackroom is broken: {name} is missing in {root}; reinstall it "
            "from its checkout: pipx install --force ."
        )


class CdkMissing(LocalModeError):
    def __init__(self, context: Mapping[str, str]) -> None:
        setting = " ".join(f"-c {name}={value}" for name, value in context.items())
        super().__init__(
            f"{setting or 'a change of infra/'} needs templates that are not shipped, and the AWS "
            "CDK to synthesise them is not installed; run `make setup` in a checkout, or elsewhere "
            "pipx install --force '.[infra]' (it also needs `node`, version 20 or newer)"
        )


class NodeMissing(LocalModeError):
    def __init__(self) -> None:
        super().__init__(
            "Node is missing: the AWS CDK needs `node` (version 20 or newer) on the PATH to "
            "synthesise the templates; install it from https://nodejs.org and try again"
        )


class SynthesisFailed(LocalModeError):
    def __init__(self, tail: str) -> None:
        super().__init__(f"infra/app.py did not synthesise; it ended with:\n{tail}")


class UnknownResource(LocalModeError):
    def __init__(self, stack: str, logical_id: str, resource_type: str) -> None:
        super().__init__(
            f"{stack}.{logical_id} is of type {resource_type!r}, which the local mode doesn't know"
        )


class DeploymentFailed(LocalModeError):
    def __init__(self, stack: str, status: str, reasons: list[str]) -> None:
        listed = "\n".join(f"  {reason}" for reason in reasons) or "  no reason given"
        super().__init__(f"stack {stack!r} ended as {status}:\n{listed}")


class NotStabilised(LocalModeError):
    def __init__(self, what: str, expected: str, status: str, reasons: list[str]) -> None:
        why = f": {' '.join(reasons)}" if reasons else ""
        super().__init__(f"{what} was not {expected}: its status is {status}{why}")


class OfAnotherType(LocalModeError):
    def __init__(self, name: str, current_type: str, declared_type: str) -> None:
        super().__init__(
            f"knowledge base {name!r} exists with type {current_type}, which can't be changed to"
            f" {declared_type}; start as before, in another --state-dir, or with --fresh"
        )


class ChildFailed(LocalModeError):
    def __init__(self, name: str, what: str, log: Path, tail: str) -> None:
        super().__init__(f"{name} {what}; the end of {log}:\n{tail or '(it logged nothing)'}")


class NoRoom(LocalModeError):
    def __init__(self, path: Path, needed: int, why: str) -> None:
        super().__init__(
            f"{path} needs {needed // 2**20} MB of free space for the data written at a stop"
            f" ({why});"
            " free space on its disk, or name a directory on another one with --state-dir"
        )


class NotKept(LocalModeError):
    def __init__(self, path: Path) -> None:
        super().__init__(
            f"stopped, but not all of {path} could be written: files are kept, but tables and"
            " queues"
            f" are as at the previous stop; see {path}/logs/ministack.log, free space on its disk,"
            " and after the next start drop missing files again"
        )


class DemoFailed(LocalModeError):
    pass
