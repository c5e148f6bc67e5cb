"""
The local mode's life: three servers started side by side, deployed to, watched, and stopped.

    ministack    S3, DynamoDB, SQS, EventBridge, Lambda, Step Functions, IAM, CloudFormation
    simulator    Bedrock knowledge bases and S3 Vectors
    gateway      the AgentCore Gateway's stand-in, with the tool functions
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from stackroom_local import synthesis
from stackroom_local.interruption import release_messages
from stackroom_local.processes import HOST, Child, require_free, spawn
from stackroom_local.state import (
    ACCESS_KEY,
    ACCOUNT,
    REGION,
    SECRET_KEY,
    Instance,
    Ports,
    StateDirectory,
    endpoint_variables,
)

if TYPE_CHECKING:
    from stackroom_local.deployment.deployer import Deployed

_INGEST = "functions.ingest.handler.handler"
_PORT_FREE_SECONDS = 10.0

Announce = Callable[[str], None]


class Stopped(BaseException):
    """SIGTERM or SIGINT arrived; not an `Exception`, so that nothing in between swallows it."""


@dataclass(frozen=True, kw_only=True)
class LocalMode:
    state: StateDirectory
    ports: Ports
    speed: float
    announce: Announce
    left_behind: Instance | None = None  # by a killed supervisor: its servers take a moment to end
    _children: dict[str, Child] = field(default_factory=dict)

    @contextlib.contextmanager
    def running(self) -> Iterator[Instance]:
        """
        Serves inside the block, and leaves no process behind after it, however it ends.

        The state directory must be held (`StateDirectory.held`).
        """
        with _signals_raise():
            try:
                yield self._start()
            finally:
                self._stop()

    def watch(self) -> NoReturn:
        """Returns never: raises `Stopped` on a signal, `ChildFailed` when a server dies."""
        while True:
            for child in self._children.values():
                child.check()
            time.sleep(0.2)

    @property
    def _aws(self) -> str:
        return f"http://{HOST}:{self.ports.aws}"

    @property
    def _simulator(self) -> str:
        return f"http://{HOST}:{self.ports.simulator}"

    @property
    def _gateway(self) -> str:
        return f"http://{HOST}:{self.ports.gateway}"

    def _start(self) -> Instance:
        self._require_ports()
        release_messages(self.state / "ministack" / "sqs.json")
        self._spawn_ministack()
        self._spawn_simulator()
        self._spawn_gateway()  # it imports meanwhile, and waits for its configuration
        if not synthesis.is_cached():
            self.announce("synthesising the templates (once per change of infra/)")
        assembly = synthesis.assembly()
        deployed = self._deploy(assembly)
        self._configure_gateway(deployed)
        instance = self._instance(deployed)
        self._children["gateway"].wait_until_healthy(
            f"{self._gateway}/.well-known/openid-configuration"
        )
        self.announce("gateway ready")
        self.state.record(instance)
        self._sweep(deployed)
        return instance

    def _require_ports(self) -> None:
        needed = {
            "ministack": self.ports.aws,
            "the simulator": self.ports.simulator,
            "the gateway": self.ports.gateway,
        }
        patience = _PORT_FREE_SECONDS if self.left_behind else 0.0
        for name, port in needed.items():
            require_free(port, name, patience=patience)

    def _spawn_ministack(self) -> None:
        scratch = self.state / "tmp"
        scratch.mkdir(exist_ok=True)
        environment = {
            # Inherited by every function's process: which server answers for which service.
            **endpoint_variables(self._aws, self._simulator),
            "GATEWAY_PORT": str(self.ports.aws),
            "BIND_HOST": HOST,  # it would listen on every interface otherwise
            "AUTH": "true",
            "LAMBDA_EXECUTOR": "local",
            "SFN_WAIT_SCALE": f"{1 / self.speed:.6f}",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self.state / "ministack"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self.state / "s3"),
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "MINISTACK_REGION": REGION,
            "TMPDIR": str(scratch),  # else it keeps files in the machine's /tmp
        }
        self._spawn("ministack", [sys.executable, "-m", "ministack"], environment)

    def _spawn_simulator(self) -> None:
        options = {
            "--port": str(self.ports.simulator),
            "--data-dir": str(self.state / "simulator"),
            "--speed": f"{self.speed:g}",
            "--s3-endpoint": self._aws,
            "--region": REGION,
            "--account": ACCOUNT,
        }
        command = [sys.executable, "-m", "stackroom_local.simulator", *_flat(options)]
        self._spawn("simulator", command, {})

    @property
    def _gateway_configuration(self) -> Path:
        return self.state / "gateway.json"

    def _spawn_gateway(self) -> None:
        self._gateway_configuration.unlink(missing_ok=True)  # an earlier deployment's
        options = {
            "--port": str(self.ports.gateway),
            "--config": str(self._gateway_configuration),
            "--data-dir": str(self.state / "gateway"),
        }
        command = [sys.executable, "-m", "stackroom_local.gateway", *_flat(options)]
        environment = endpoint_variables(self._aws, self._simulator)
        self._spawn("gateway", command, environment)

    def _configure_gateway(self, deployed: "Deployed") -> None:
        draft = self.state / "gateway.json.new"
        draft.write_text(deployed.gateway.model_dump_json(indent=2))
        draft.replace(self._gateway_configuration)

    def _spawn(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        credentials = {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "PYTHONUNBUFFERED": "1",
            # Empty is unset: with nothing compiled beforehand a start takes twice as long.
            "PYTHONDONTWRITEBYTECODE": "",
        }
        self._children[name] = spawn(
            name,
            command,
            log=self.state / "logs" / f"{name}.log",
            environment={**credentials, **environment},
        )

    def _deploy(self, assembly: Path) -> "Deployed":
        # Imported here because boto3 takes long to import, and the servers start meanwhile.
        from stackroom_local.deployment.deployer import Deployer  # noqa: PLC0415

        self._children["ministack"].wait_until_healthy(f"{self._aws}/_ministack/health")
        self.announce("ministack ready")
        return Deployer(
            aws_endpoint=self._aws,
            simulator_endpoint=self._simulator,
            gateway_endpoint=self._gateway,
            aws_config=self.state / "aws-config",
            before_simulator=self._simulator_ready,
            announce=self.announce,
        ).deploy(assembly)

    def _simulator_ready(self) -> None:
        self._children["simulator"].wait_until_healthy(f"{self._simulator}/health")
        self.announce("simulator ready")

    def _sweep(self, deployed: "Deployed") -> None:
        """Takes up what an earlier stop cut off; runs on its own, nobody waits for it."""
        from stackroom_local.clients import client  # noqa: PLC0415 - see _deploy

        client("lambda", self._aws).invoke(
            FunctionName=deployed.functions[_INGEST],
            InvocationType="Event",
            Payload=json.dumps({"action": "sweep"}),
        )

    def _instance(self, deployed: "Deployed") -> Instance:
        return Instance(
            pid=os.getpid(),
            children={name: child.pid for name, child in self._children.items()},
            speed=self.speed,
            aws_endpoint=self._aws,
            simulator_endpoint=self._simulator,
            mcp_url=f"{self._gateway}/mcp",
            bucket=deployed.outputs["BucketName"],
            catalog_table=deployed.outputs["CatalogTableName"],
            control_table=deployed.outputs["ControlTableName"],
            state_dir=self.state.path,
        )

    def _stop(self) -> None:
        """
        Callers first, so that what they call still answers; the simulator after ministack, whose
        functions may be talking to it while ministack saves its state.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for name in ("gateway", "ministack", "simulator"):
            if child := self._children.pop(name, None):
                child.ask_to_stop()
                child.end()


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _flat(options: dict[str, str]) -> list[str]:
    return [part for option in options.items() for part in option]
