"""Waking executions that wait with a task token."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.error_mapping import store_errors

if TYPE_CHECKING:
    from types_boto3_stepfunctions.client import SFNClient

_ADMITTED = json.dumps({"admitted": True})


@dataclass(frozen=True, kw_only=True)
class StepFunctionsTaskTokens:
    client: "SFNClient"

    def wake(self, token: str) -> bool:
        exceptions = self.client.exceptions
        try:
            with store_errors():
                self.client.send_task_success(taskToken=token, output=_ADMITTED)
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
