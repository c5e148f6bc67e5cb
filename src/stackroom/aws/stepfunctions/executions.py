"""Executions of the state machine that ingests a catalog; and those that wait with a token."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.error_mapping import store_errors

if TYPE_CHECKING:
    from types_boto3_stepfunctions.client import SFNClient


@dataclass(frozen=True, kw_only=True)
class StepFunctionsExecutions:
    client: "SFNClient"
    state_machine_arn: str

    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        try:
            with store_errors():
                self.client.start_execution(
                    stateMachineArn=self.state_machine_arn, name=name, input=json.dumps(payload)
                )
        except self.client.exceptions.ExecutionAlreadyExists:
            return self.is_running(name)
        return True

    def is_running(self, name: str) -> bool:
        machine = self.state_machine_arn.replace(":stateMachine:", ":execution:")
        try:
            with store_errors():
                execution = self.client.describe_execution(executionArn=f"{machine}:{name}")
        except self.client.exceptions.ExecutionDoesNotExist:
            return False
        return bool(execution["status"] == "RUNNING")


@dataclass(frozen=True, kw_only=True)
class StepFunctionsTaskTokens:
    client: "SFNClient"

    def wake(self, token: str) -> bool:
        exceptions = self.client.exceptions
        try:
            with store_errors():
                self.client.send_task_success(taskToken=token, output='{"admitted": true}')
        # A task that is over has timed out or never was, according to whom one asks; a token that
        # is none belongs to nobody either.
        except (
            exceptions.TaskTimedOut,
            exceptions.TaskDoesNotExist,
            exceptions.InvalidToken,
        ) as refusal:
            # If boto3 has repeated the call, the first one may have woken it, and its answer got
            # lost. A grant that nobody claims is handed on in two minutes; one taken away from a
            # run that is awake sends it back to the queue.
            return refusal.response["ResponseMetadata"].get("RetryAttempts", 0) > 0
        return True
