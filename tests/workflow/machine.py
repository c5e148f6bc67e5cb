"""The state machine's own definition, with waits cut short, and what an execution went through."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

DEFINITION = Path(__file__).parents[2] / "statemachines" / "ingest_catalog.asl.json"
_ARN = "arn:aws:lambda:us-east-1:123456789012:function:"
_PATIENCE = 300.0  # seconds: of a busy machine; nothing is proved by it
_LOOK = 0.04  # seconds; each look takes time from the engine


def definition() -> str:
    """The file as deployed, but that retries come as soon as the engine allows."""
    text = DEFINITION.read_text("utf-8")
    text = text.replace("${IngestFunctionArn}", f"{_ARN}ingest")
    text = text.replace("${StatusPollerFunctionArn}", f"{_ARN}status_poller")
    machine = json.loads(text)
    for state in machine["States"].values():
        for retry in state.get("Retry", []):
            retry.update(IntervalSeconds=1, BackoffRate=1.0, MaxDelaySeconds=2)
    return json.dumps(machine)


@dataclass(frozen=True, kw_only=True)
class Execution:
    name: str
    status: str
    error: str | None
    input: dict[str, Any]
    states: list[str]  # entered, in order


@dataclass(frozen=True, kw_only=True)
class Machine:
    client: Any
    arn: str

    def executions(self) -> list[Execution]:
        """All there are, the first first, once each has ended or waits to follow a broken one."""
        deadline = monotonic() + _PATIENCE
        while working := [arn for arn in self.running() if not self._rests(arn)]:
            assert monotonic() < deadline, f"still running: {working}"
            sleep(_LOOK)
        pages = self.client.get_paginator("list_executions").paginate(stateMachineArn=self.arn)
        arns = [each["executionArn"] for page in pages for each in page["executions"]]
        ended = [self.client.describe_execution(executionArn=arn) for arn in arns]
        return [self._read(each) for each in sorted(ended, key=lambda each: each["startDate"])]

    def await_end(self, name: str) -> None:
        self._await(lambda: self._arn(name) not in self.running(), name)

    def running(self) -> list[str]:
        deadline = monotonic() + _PATIENCE
        while True:
            try:
                found = self.client.list_executions(
                    stateMachineArn=self.arn, statusFilter="RUNNING"
                )
            except AttributeError:  # moto knows an execution a moment before its status
                assert monotonic() < deadline, "an execution has no status"
                sleep(_LOOK)
            else:
                return [each["executionArn"] for each in found["executions"]]

    def states(self, execution_arn: str) -> list[str]:
        return [
            event["stateEnteredEventDetails"]["name"]
            for event in self.events(execution_arn)
            if "stateEnteredEventDetails" in event
        ]

    def stop_at_once(self) -> None:
        for arn in self.running():
            self._await_first_state(arn)
            self.client.stop_execution(executionArn=arn)

    def stop(self) -> None:
        deadline = monotonic() + _PATIENCE
        while self.running():
            assert monotonic() < deadline, "an execution won't stop"
            self.stop_at_once()  # again, since moto forgets it if a state is just being entered
            sleep(_LOOK)

    def events(self, execution_arn: str) -> list[dict[str, Any]]:
        pages = self.client.get_paginator("get_execution_history").paginate(
            executionArn=execution_arn
        )
        return [event for page in pages for event in page["events"]]

    def _await_first_state(self, arn: str) -> None:
        # moto can't stop what its worker has yet to begin
        self._await(lambda: bool(self.states(arn)), arn)

    def _await(self, is_so: Callable[[], bool], name: str) -> None:
        deadline = monotonic() + _PATIENCE
        while not is_so():
            assert monotonic() < deadline, f"never came to it: {name}"
            sleep(_LOOK)

    def _arn(self, name: str) -> str:
        return f"{self.arn.replace(':stateMachine:', ':execution:')}:{name}"

    def _rests(self, arn: str) -> bool:
        """Return whether it is a successor with a delay, which no test waits for."""
        given = json.loads(self.client.describe_execution(executionArn=arn)["input"])
        return given["progress"]["delay"] > 0 and self.states(arn)[-1:] == ["WaitForDataSource"]

    def _read(self, found: dict[str, Any]) -> Execution:
        return Execution(
            name=found["name"],
            status=found["status"],
            error=found.get("error"),
            input=json.loads(found["input"]),
            states=self.states(found["executionArn"]),
        )
