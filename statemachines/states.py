"""
The kinds of state that a machine here is made of, each with what all of its kind share.

All tasks retry the same errors with the same backoff: it is changed here, in one place, and then
`make asl` writes it into every state. How long a Wait takes is decided elsewhere, by
stackroom.runs.run: a function answers it as `progress.wait_seconds`.
"""

from typing import Any

State = dict[str, Any]

INGEST = "${IngestFunctionArn}"  # CDK fills in the ARN
STATUS_POLLER = "${StatusPollerFunctionArn}"

# Our own errors that pass: all under `Unavailable` in stackroom.errors, each by its name, since
# Step Functions knows nothing of inheritance.
OURS = ["RecordChanged", "StoreUnavailable", "KnowledgeBaseThrottled", "KnowledgeBaseUnavailable"]
# Errors of Lambda that pass [Step Functions guide: error handling, "Handle transient Lambda
# service exceptions"], and those of a process that died or ran out of time.
LAMBDAS = [
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Sandbox.Timedout",
]
TIMEOUT = "States.Timeout"


def backoff(errors: list[str], *, attempts: int, longest: int, **more: str) -> State:
    """Try again after 2, 4, 8, ... seconds, at most `longest`."""
    return {
        "ErrorEquals": errors,
        "IntervalSeconds": 2,
        "BackoffRate": 2,
        "MaxAttempts": attempts,
        "MaxDelaySeconds": longest,
        **more,
    }


# Two minutes; with jitter, because runs that met at a table would meet there again.
RETRY_OURS = backoff(OURS, attempts=6, longest=60, JitterStrategy="FULL")
# A task's answer that doesn't come counts as Lambda's failure.
RETRY = [RETRY_OURS, backoff([*LAMBDAS, TIMEOUT], attempts=5, longest=60)]
# Of a task that waits for its token a timeout is no failure: it begins to wait anew, more often
# than the machine's own timeout has room for.
RETRY_WAITING = [
    {
        "ErrorEquals": [TIMEOUT],
        "IntervalSeconds": 1,
        "BackoffRate": 1.1,
        "MaxAttempts": 1000,
        "MaxDelaySeconds": 60,
    },
    RETRY_OURS,
    backoff(LAMBDAS, attempts=5, longest=60),
]
# Nothing comes after this one, so it tries for six minutes.
RETRY_RECORDING = [backoff([*OURS, *LAMBDAS, TIMEOUT], attempts=8, longest=120)]

CATCH = [
    {"ErrorEquals": ["RunSuperseded"], "ResultPath": "$.error", "Next": "RunSuperseded"},
    {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "RecordFailure"},
]
CATCH_RECORDING = [
    {"ErrorEquals": ["States.ALL"], "ResultPath": "$.recording", "Next": "RunBroke"},
]


def task(function: str, action: str, comment: str, *, then: str) -> State:
    """A step of the run: its answer becomes the state machine's data."""
    state = _task(comment, {"OutputPath": "$.Payload"}, retry=RETRY, catch=CATCH, then=then)
    state["Parameters"] = _parameters(function, action, last="progress")
    return state


def waiting_task(function: str, action: str, comment: str, *, then: str) -> State:
    """A step that is over when somebody sends its token back, with nothing to tell."""
    state = _task(comment, {"ResultPath": None}, retry=RETRY_WAITING, catch=CATCH, then=then)
    state["Resource"] += ".waitForTaskToken"
    state["Parameters"] = _parameters(function, action, last="progress")
    state["Parameters"]["Payload"]["token.$"] = "$$.Task.Token"
    state["TimeoutSeconds"] = 21_600
    return state


def recording_task(function: str, action: str, comment: str, *, then: str) -> State:
    """What follows on a failure: takes the error instead of the progress, and answers nothing."""
    answer = {"ResultPath": None}
    state = _task(comment, answer, retry=RETRY_RECORDING, catch=CATCH_RECORDING, then=then)
    state["Parameters"] = _parameters(function, action, last="error")
    return state


def choice(comment: str, **then: str) -> State:
    """Which state follows on which outcome; an outcome that isn't named is a failure."""
    return {
        "Type": "Choice",
        "Comment": comment,
        "Choices": [
            {"Variable": "$.progress.outcome", "StringEquals": outcome, "Next": state}
            for outcome, state in then.items()
        ],
        "Default": "UnknownOutcome",
    }


def wait(comment: str, *, then: str) -> State:
    """As many seconds as the task before it answered."""
    return {
        "Type": "Wait",
        "Comment": comment,
        "SecondsPath": "$.progress.wait_seconds",
        "Next": then,
    }


def _task(
    comment: str, answer: State, *, retry: list[State], catch: list[State], then: str
) -> State:
    return {
        "Type": "Task",
        "Comment": comment,
        "Resource": "arn:aws:states:::lambda:invoke",
        "Parameters": {},
        **answer,
        "TimeoutSeconds": 150,  # longer than either function may run, or a live one is abandoned
        "Retry": retry,
        "Catch": catch,
        "Next": then,
    }


def _parameters(function: str, action: str, *, last: str) -> State:
    """Ids travel, and how far the run is; never documents."""
    return {
        "FunctionName": function,
        "Payload": {
            "action": action,
            "worklist_id.$": "$.worklist_id",
            "epoch.$": "$.epoch",
            f"{last}.$": f"$.{last}",
        },
    }
