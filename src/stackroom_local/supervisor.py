"""The local mode's life: its servers are started in parallel, deployed to, watched, and stopped."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from stackroom.clock import utc_now
from stackroom_local import synthesis
from stackroom_local.clients import Clients
from stackroom_local.local_errors import NotOurs
from stackroom_local.ministack.disk_reserve import DiskReserve
from stackroom_local.processes import Child, spawn
from stackroom_local.servers import Ports, Server, Servers
from stackroom_local.state import REGION, Instance, StateDirectory

if TYPE_CHECKING:
    from stackroom_local.deployment.deployer import Deployed
import re
from typing import Any

# What EventBridge invokes on a schedule, by handler. Each is invoked at every start, too: nothing
# of before can be under way then, so what the last stop interrupted goes on at once.
_SWEEPER, _SWEEP = "functions.ingest.handler.handler", {"action": "sweep", "thorough": True}
_CONSOLE = "functions.console.handler.handler"
_RECONCILER = "functions.reconciler.handler.handler"
_PORT_FREE_SECONDS = 10.0

Announce = Callable[[str], None]


class Stopped(BaseException):
    """
    SIGTERM or SIGINT arrived. It is not an `Exception`, so that no handler in between swallows it.
    """


@dataclass(frozen=True, kw_only=True)
class LocalMode:
    state: StateDirectory
    ports: Ports
    speed: float
    announce: Announce
    faults: str = ""  # SEED[:RATE]
    context: Mapping[str, str] = field(default_factory=dict)  # of CDK, over cdk.json's
    allowed_origins: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()  # options of the simulator
    model: ModelName = DEFAULT_MODEL  # that embeds
    fresh: bool = False  # forget what was kept, once it is clear that we can start
    left_behind: Instance | None = None  # by a killed supervisor: its servers take a moment to end
    _children: dict[str, Child] = field(default_factory=dict)
    signals: list[int] = field(default_factory=list)  # those that told it to stop

    @contextlib.contextmanager
    def running(self) -> Iterator[Instance]:
        """
        Serve inside the block, and leave no process behind, however it ends.

        The state directory must be held (`StateDirectory.held`).
        """
        with signals_raise(self.signals):
            try:
                yield self._start()
            finally:
                self._stop()

    def watch(self, beside: Iterable[None] = ()) -> NoReturn:
        """
        Watch the servers until `Stopped` on a signal, or `ChildFailed` when a server dies.

        Between two checks it does one step of the work in `beside`.
        """
        steps = iter(beside)
        while True:
            next(steps, None)
            # Python drops what a signal raises while a module is being imported, at some moments.
            if self.signals:
                raise Stopped
            for child in self._children.values():
                child.check()
            time.sleep(0.2)

    @cached_property
    def _servers(self) -> Servers:
        return Servers(
            self.state,
            self.ports,
            self.speed,
            self.allowed_origins,
            self.assumed,
            self.model,
        )

    @cached_property
    def _clients(self) -> Clients:
        return Clients(
            aws=self._servers.aws,
            simulator=self._servers.bedrock,
            key=self.state.root_key,
            region=REGION,
        )

    def _start(self) -> Instance:
        started_at = utc_now()
        self.ports.require_free(patience=_PORT_FREE_SECONDS if self.left_behind else 0.0)
        if self.fresh:
            self.state.forget()
            self.state.ensure_root_key()
        if not (self.state / "ministack").exists():  # nothing was ever served from here
            from stackroom.text.text_ids import reader_of  # noqa: PLC0415 - slow

            is_on = self.context.get("ocr") == "textract"
            self.state.record_reader(reader_of("textract" if is_on else "none"))
        DiskReserve(self.state.path).begin()
        resume(self.state / "ministack", self.ports.aws)
        (self.state / "tmp").mkdir(exist_ok=True)
        self._spawn(self._servers.ministack(), self._servers.simulator())
        self.announce_re_embedding()
        if not synthesis.is_cached(self.context):
            self.announce("synthesising the templates (once per change of infra/)")
        deployed = self._deploy(synthesis.assembly(self.context))
        (self.state / "gateway.json").write_text(deployed.gateway.model_dump_json(indent=2))
        callers = [self._servers.gateway(), *self._console(deployed)]
        self._spawn(*callers)
        self._catch_up(deployed, since=started_at)
        for each in callers:
            self._wait_for(each)
        if self.faults:
            self._disturb()
        instance = self._instance(deployed)
        self.state.record(instance)
        return instance

    def _console(self, deployed: "Deployed") -> list[Server]:
        """Return the console's server; none if the context leaves it out."""
        function = deployed.functions.get(_CONSOLE)
        return [] if function is None else [self._servers.console(function)]

    def _spawn(self, *servers: Server) -> None:
        for server in servers:
            self._children[server.name] = spawn(
                server.name,
                server.command,
                log=self.state / "logs" / f"{server.name}.log",
                environment=server.environment,
            )

    def announce_re_embedding(self) -> None:
        """Announce how much the simulator embeds again before it answers, if anything."""
        # Imported here because they take a while, and the servers start meanwhile.
        from bedrock_kb_simulator.embedding_models import embedder_of  # noqa: PLC0415
        from bedrock_kb_simulator.re_embedding import count_outdated  # noqa: PLC0415

        total = count_outdated(self.state / "simulator", embedder_of(self.model).model)
        if total:
            self.announce(f"embedding {total} passages again with the model {self.model}")

    def _wait_for(self, server: Server) -> None:
        self._children[server.name].wait_until_healthy(server.health, server.patience)
        self.announce(f"{server.name} ready")

    def _deploy(self, assembly: Path) -> "Deployed":
        # Imported here because boto3 takes long to import, and the servers start meanwhile.
        from stackroom_local.deployment.deployer import Deployer  # noqa: PLC0415

        self._wait_for(self._servers.ministack())
        return Deployer(
            clients=self._clients,
            gateway_endpoint=self._servers.agents,
            speed=self.speed,
            before_simulator=lambda: self._wait_for(self._servers.simulator()),
            announce=self.announce,
        ).deploy(assembly)

    def _catch_up(self, deployed: "Deployed", *, since: datetime) -> None:
        """
        Resume what an earlier stop interrupted, and restore records that a power cut took from the
        tables.

        It runs by itself, and nothing waits for it.
        """
        reconcile = {"action": "reconcile", "idle_before": since.isoformat()}
        aws_lambda = self._clients("lambda")
        for handler, event in {_SWEEPER: _SWEEP, _RECONCILER: reconcile}.items():
            aws_lambda.invoke(
                FunctionName=deployed.functions[handler],
                InvocationType="Event",
                Payload=json.dumps(event),
            )

    def _disturb(self) -> None:
        """Turn on faults from here on, since nobody retries the calls of the start itself."""
        from bedrock_kb_simulator.fault_orders import order  # noqa: PLC0415 - see _deploy

        order(self._servers.bedrock, self.faults, self.state.root_key)

    def _instance(self, deployed: "Deployed") -> Instance:
        return Instance(
            pid=os.getpid(),
            children={name: child.pid for name, child in self._children.items()},
            speed=self.speed,
            aws_endpoint=self._servers.aws,
            simulator_endpoint=self._servers.bedrock,
            mcp_url=f"{self._servers.agents}/mcp",
            console_url=self._servers.console_url if "console" in self._children else None,
            bucket=deployed.outputs["BucketName"],
            catalog_table=deployed.outputs["CatalogTableName"],
            control_table=deployed.outputs["ControlTableName"],
            state_dir=self.state.path,
        )

    def _stop(self) -> None:
        """
        Stop callers first, so that the servers they call still answer.

        The simulator stops after ministack, whose functions may call it while ministack saves its
        state.
        """
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for name in ("console", "gateway", "ministack", "simulator"):
            if child := self._children.pop(name, None):
                child.ask_to_stop()
                child.end()
        assert not self._children, "every server has its place in this order"


@contextlib.contextmanager
def signals_raise(arrived: list[int]) -> Iterator[None]:
    def stop(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)
        raise Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# What ministack kept, made fit for the next start while nobody has its files open.
#
# Written for the files of ministack 1.5.33; a new version needs a look here.

_OWN_URL = re.compile(rb"http://localhost:\d+/")


def resume(kept: Path, port: int) -> None:
    """
    Prepare ministack's STATE_DIR `kept` for serving on `port`. It is safe to repeat.

    Raises NotOurs for a damaged file; ministack would start without its data.
    """
    for file in kept.glob("*.json"):
        _move(file, port)
    _resume_queues(kept / "sqs.json")


def _move(file: Path, port: int) -> None:
    """Rename queues, whose URLs include the port, so that ministack finds them on another one."""
    before = file.read_bytes()
    try:
        json.loads(before)
    except ValueError as error:
        damage = f"{file.parent.name}/{file.name} is damaged ({error})"
        raise NotOurs(file.parent.parent, damage) from error
    after = _OWN_URL.sub(f"http://localhost:{port}/".encode(), before)
    if after != before:
        _replace(file, after)


def _resume_queues(file: Path) -> None:
    if not file.exists():
        return  # never stopped before
    before = file.read_bytes()
    state: dict[str, Any] = json.loads(before)
    for queue in state["payload"]["queues"]["data"].values():
        queue["messages"] = [each for each in queue["messages"] if not _is_sent_again(each)]
        _release(queue["messages"])
    after = json.dumps(state).encode()
    if after != before:
        _replace(file, after)


def _is_sent_again(message: Mapping[str, Any]) -> bool:
    """
    Return whether a failed event came from an earlier start's `_catch_up`, which sends it again.

    It mostly failed because of the stop itself. ministack tries three times within seconds, even
    when the services it needs are closed already; Lambda takes three minutes.
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
    """
    try:
        given_up = json.loads(message["body"])
    except ValueError:  # a user's own message, in words of theirs
        return False
    match given_up:
        case {
            "requestPayload": {"action": "sweep", "thorough": True}
            | {"action": "reconcile", "idle_before": str()}
        }:
            return True
    return False


def _release(messages: Iterable[dict[str, Any]]) -> None:
    """
    Make messages visible at once that a stop interrupted while a function had them.

    On AWS a queue never stops: a message whose consumer died comes back after the visibility
    timeout, six times the function's. Here a dropped file would seem lost for as long.
    """
    for message in messages:
        if message["receive_count"] and message["visible_at"]:
            message["visible_at"] = 0
            message["receive_count"] -= 1  # the stop is no failure of its consumer


def _replace(file: Path, content: bytes) -> None:
    draft = file.with_suffix(".new")
    draft.write_bytes(content)
    draft.replace(file)
