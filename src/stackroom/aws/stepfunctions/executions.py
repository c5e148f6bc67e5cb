"""Executions of the state machine that ingests a catalog; and those that wait with a token."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stackroom.aws.error_mapping import store_errors
from stackroom.runs.run_leases import RunExecution

if TYPE_CHECKING:
    from types_boto3_stepfunctions.client import SFNClient

# Running executions, the newest, whose state is read; each takes a call, of which the account has
# some a second.
_MOST_WITH_STATE = 10
_EVENTS = 20  # of a history, from its end: a task that is tried again leaves several for one state


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

    def newest(self, *, limit: int, failed: int) -> Sequence[RunExecution]:
        """
        Return the newest executions first, as they are listed [API reference: ListExecutions].
        """
        found = [*self._listed(limit), *self._listed(failed, statusFilter="FAILED")]
        runs = sorted(
            {each.arn: each for each in found}.values(),
            key=lambda each: each.began_at,
            reverse=True,
        )
        at_work = [each for each in runs if each.status == "RUNNING"][:_MOST_WITH_STATE]
        with ThreadPoolExecutor(_MOST_WITH_STATE) as readers:
            states = dict(
                zip((each.arn for each in at_work), readers.map(self._state, at_work), strict=True)
            )
        return [replace(each, state=states.get(each.arn)) for each in runs]

    def _listed(self, limit: int, **of: Any) -> list[RunExecution]:
        with store_errors():
            answer = self.client.list_executions(
                stateMachineArn=self.state_machine_arn, maxResults=limit, **of
            )
        return [
            RunExecution(
                name=each["name"],
                arn=each["executionArn"],
                status=each["status"],
                began_at=each["startDate"],
                ended_at=each.get("stopDate"),
            )
            for each in answer["executions"][:limit]
        ]

    def _state(self, run: RunExecution) -> str | None:
        """
        Return the state that the run entered last; None if that is long ago, or the execution has
        gone meanwhile.
        """
        try:
            with store_errors():
                answer = self.client.get_execution_history(
                    executionArn=run.arn,
                    reverseOrder=True,
                    maxResults=_EVENTS,
                    includeExecutionData=False,
                )
        except self.client.exceptions.ExecutionDoesNotExist:
            return None
        entered = (each.get("stateEnteredEventDetails") for each in answer["events"])
        return next((each["name"] for each in entered if each is not None), None)


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
