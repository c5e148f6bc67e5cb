"""What every `TaskTokens` promises: whoever waits is woken, once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import pytest
from moto import mock_aws

from stackroom.aws.task_tokens import StepFunctionsTaskTokens
from stackroom.ports.admission import TaskTokens
from tests.contract.ports.conftest import client
from tests.fakes.pipeline import FakeTaskTokens
from tests.simulator.world import eventually

ROLE = "arn:aws:iam::123456789012:role/ingest-catalog"


class Waiting(Protocol):
    """TaskTokens, and runs that wait for them."""

    @property
    def port(self) -> TaskTokens: ...

    def park(self, seconds: int = 60) -> str:
        """A run that waits so long at most; answers its token."""
        ...

    def give_up(self, token: str) -> None:
        """Let that time pass."""
        ...

    def went_on(self, token: str) -> bool: ...


@dataclass(frozen=True)
class FakeWaiting:
    port: FakeTaskTokens = field(default_factory=FakeTaskTokens)

    def park(self, seconds: int = 60) -> str:
        return uuid4().hex

    def give_up(self, token: str) -> None:
        self.port.dead.add(token)

    def went_on(self, token: str) -> bool:
        return token in self.port.woken


@dataclass(frozen=True)
class Machine:
    """Executions that hand out their tokens by a queue, and wait."""

    port: StepFunctionsTaskTokens
    queue: str
    arn: str
    executions: dict[str, str] = field(default_factory=dict)

    def park(self, seconds: int = 60) -> str:
        started = self.port.client.start_execution(
            stateMachineArn=self.arn, name=uuid4().hex, input=json.dumps({"seconds": seconds})
        )
        token = str(eventually(self._handed_out))
        self.executions[token] = started["executionArn"]
        return token

    def give_up(self, token: str) -> None:
        eventually(lambda: self._described(token)["status"] == "FAILED")

    def went_on(self, token: str) -> bool:
        return bool(eventually(lambda: self._described(token)["status"] == "SUCCEEDED"))

    def _handed_out(self) -> str | None:
        messages = client("sqs").receive_message(QueueUrl=self.queue).get("Messages", [])
        return messages[0]["Body"] if messages else None

    def _described(self, token: str) -> dict[str, Any]:
        described = self.port.client.describe_execution(executionArn=self.executions[token])
        return dict(described)


@contextmanager
def machine() -> Iterator[Machine]:
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        queue = client("sqs").create_queue(QueueName="tokens")["QueueUrl"]
        wait = {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Parameters": {"QueueUrl": queue, "MessageBody.$": "$$.Task.Token"},
            "TimeoutSecondsPath": "$.seconds",
            "End": True,
        }
        created = client("stepfunctions").create_state_machine(
            name="wait",
            definition=json.dumps({"StartAt": "Wait", "States": {"Wait": wait}}),
            roleArn=ROLE,
        )
        port = StepFunctionsTaskTokens(client=client("stepfunctions"))
        yield Machine(port, queue, created["stateMachineArn"])


@pytest.fixture(params=["fake", "stepfunctions"])
def waiting(request: pytest.FixtureRequest) -> Iterator[Waiting]:
    if request.param == "fake":
        yield FakeWaiting()
        return
    with machine() as found:
        yield found


def test_a_run_that_waits_is_woken_once_and_goes_on(waiting: Waiting) -> None:
    token = waiting.park()

    woken = [waiting.port.wake(token), waiting.went_on(token), waiting.port.wake(token)]

    assert woken == [True, True, False]


def test_nobody_is_woken_with_a_token_that_has_timed_out(waiting: Waiting) -> None:
    token = waiting.park(seconds=1)
    waiting.give_up(token)

    assert not waiting.port.wake(token)
