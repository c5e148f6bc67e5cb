"""
The local mode under test: started as a user does it, killed, and started again.

From each start on, some documents that are ingested meet what a live user has measured: they are
unknown to Bedrock for a while, missed by searches, or slow (rules document.unseen,
retrieve.filtered-lag and document.slow).
"""

import os
import shutil
import signal
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import psutil
from botocore.config import Config

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH
from bedrock_kb_simulator.faults import Kind
from stackroom_local.deployment.user_keys import UserKeys
from stackroom_local.local_errors import ChildFailed
from stackroom_local.processes import Child
from stackroom_local.state import REGION, Instance
from tests.local.running import instance_of, none_left, start

_ATTEMPTS = 3
_END_SECONDS = 120.0
_MEASURED = {Kind.UNSEEN: 0.15, Kind.MISSED: 0.15, Kind.SLOW: 0.1}
_S3 = Config(retries={"total_max_attempts": 2}, connect_timeout=3, read_timeout=60)


@dataclass
class Mode:
    """`serving` is set while it is up; whoever is refused waits for it."""

    folder: Path
    port: int
    speed: float
    seed: int
    serving: threading.Event = field(default_factory=threading.Event)
    starts: int = 0
    failed_starts: list[str] = field(default_factory=list)
    _up: Child | None = None
    _instance: Instance | None = None
    _clients: dict[tuple[int, str], Any] = field(default_factory=dict)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @property
    def state_dir(self) -> Path:
        return self.folder / "state"

    @property
    def instance(self) -> Instance:
        """The one that serves or served last: names and endpoints stay from start to start."""
        assert self._instance is not None, "it was started"
        return self._instance

    def s3_of(self, user: str) -> Any:
        """With the user's own keys; a power cut takes them from IAM, so each start asks anew."""
        instance = self.instance
        with self._one_at_a_time:
            if (instance.pid, user) not in self._clients:
                keys = UserKeys(instance).of(user)
                self._clients[instance.pid, user] = boto3.session.Session(
                    keys.access_key_id, keys.secret_access_key, region_name=REGION
                ).client("s3", endpoint_url=instance.aws_endpoint, config=_S3)
            return self._clients[instance.pid, user]

    def start(self) -> None:
        """Only the main thread may (`spawn`); raises `ChildFailed` if it fails again and again."""
        for attempt in range(1, _ATTEMPTS + 1):
            self._keep_logs()
            self.starts += 1
            options = ("--port", str(self.port), "--speed", f"{self.speed:g}")
            self._up = start(self.state_dir, *options)
            try:
                self._instance = instance_of(self._up, self.state_dir)
            except ChildFailed as error:
                self.failed_starts.append(str(error))
                if attempt == _ATTEMPTS:
                    raise
            else:
                self._disturb()
                self.serving.set()
                return

    def injected(self) -> Counter[str]:
        """Of all starts, by the simulator's own word."""
        logs = [*self.folder.glob("logs/*/simulator.log"), self.state_dir / "logs/simulator.log"]
        told = "".join(each.read_text("utf-8") for each in logs if each.exists())
        return Counter({str(kind): told.count(f"fault injected: {kind} ") for kind in _MEASURED})

    def _disturb(self) -> None:
        chance = {"seed": self.seed + self.starts, "rates": _MEASURED}
        endpoint = self.instance.simulator_endpoint
        orders.send(endpoint + PATH, {"chance": chance}, self.instance.root_key)

    def signal(self, name: str, number: signal.Signals) -> None:
        """To a server by its name, or to the supervisor."""
        os.kill(self.pid_of(name), number)

    def pid_of(self, name: str) -> int:
        return self.instance.pid if name == "supervisor" else self.instance.children[name]

    def workers(self) -> list[psutil.Process]:
        """The processes of functions."""
        found = []
        for each in psutil.Process(self.pid_of("ministack")).children(recursive=True):
            try:
                if "stackroom_local.function_processes.runtime_client" in each.cmdline():
                    found.append(each)
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        return found

    def await_end(self) -> None:
        assert self._up is not None, "it was started"
        self._up.process.wait(_END_SECONDS)

    def stop(self) -> None:
        self.serving.clear()
        if self._up is not None:
            self._up.ask_to_stop()
            self._up.end(_END_SECONDS)
            assert none_left(self.state_dir, within=_END_SECONDS), "a stop leaves no process"

    def _keep_logs(self) -> None:
        """A start empties them."""
        if self.starts:
            kept = self.folder / "logs" / f"{self.starts:03}"
            shutil.copytree(self.state_dir / "logs", kept, dirs_exist_ok=True)
            shutil.copy(self.state_dir.with_suffix(".log"), kept / "up.log")
