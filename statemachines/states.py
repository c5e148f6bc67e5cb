"""
The kinds of states in the state machine, each with what all of its kind share.

All tasks retry the same errors with the same backoff: change it here, and `make asl` writes it into
every state. stackroom.runs.run decides how long a Wait takes: a function answers it as
`progress.wait_seconds`.
"""

from typing import Any

State = dict[str, Any]

INGEST = "${IngestFunctionArn}"  # CDK fills in the ARN
STATUS_POLLER = "${StatusPollerFunctionArn}"

# The project's transient errors: all subclasses of `Unavailable` in stackroom.errors by name,
# because Step Functions does not know inheritance.
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
    """Return a retry rule with pauses of 2, 4, 8, ... seconds, at most `longest`."""
    return {
        "ErrorEquals": errors,
        "IntervalSeconds": 2,
        "BackoffRate": 2,
        "MaxAttempts": attempts,
        "MaxDelaySeconds": longest,
        **more,
    }


# Two minutes in all; with jitter, because runs that collided at a table would collide again.
RETRY_OURS = backoff(OURS, attempts=6, longest=60, JitterStrategy="FULL")
# A missing answer of a task counts as a failure of Lambda.
RETRY = [RETRY_OURS, backoff([*LAMBDAS, TIMEOUT], attempts=5, longest=60)]
# The timeout of a task that waits for its token is no failure: the task waits again, more often
# than the machine's own timeout allows.
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
# Nothing follows this task, so it retries for six minutes.
RETRY_RECORDING = [backoff([*OURS, *LAMBDAS, TIMEOUT], attempts=8, longest=120)]

CATCH = [
    {"ErrorEquals": ["RunSuperseded"], "ResultPath": "$.error", "Next": "RunSuperseded"},
    {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "RecordFailure"},
]
CATCH_RECORDING = [
    {"ErrorEquals": ["States.ALL"], "ResultPath": "$.recording", "Next": "RunBroke"},
]


def task(function: str, action: str, comment: str, *, then: str) -> State:
    """Return a step of the run, whose answer becomes the state machine's data."""
    state = _task(comment, {"OutputPath": "$.Payload"}, retry=RETRY, catch=CATCH, then=then)
    state["Parameters"] = _parameters(function, action, last="progress")
    return state


def waiting_task(function: str, action: str, comment: str, *, then: str) -> State:
    """Return a step that ends when somebody sends its token back, without a result."""
    state = _task(comment, {"ResultPath": None}, retry=RETRY_WAITING, catch=CATCH, then=then)
    state["Resource"] += ".waitForTaskToken"
    state["Parameters"] = _parameters(function, action, last="progress")
    state["Parameters"]["Payload"]["token.$"] = "$$.Task.Token"
    state["TimeoutSeconds"] = 21_600
    return state


def recording_task(function: str, action: str, comment: str, *, then: str) -> State:
    """Return a task that records a failure: it takes the error, and its answer is discarded."""
    answer = {"ResultPath": None}
    state = _task(comment, answer, retry=RETRY_RECORDING, catch=CATCH_RECORDING, then=then)
    state["Parameters"] = _parameters(function, action, last="error")
    return state


def choice(comment: str, **then: str) -> State:
    """Return a choice of the next state by outcome; any other outcome is a failure."""
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
    """Return a wait for the seconds that the previous task answered."""
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
        "TimeoutSeconds": 150,  # longer than the functions may run, so none is abandoned
        "Retry": retry,
        "Catch": catch,
        "Next": then,
    }


def _parameters(function: str, action: str, *, last: str) -> State:
    """Return a function's input: ids and the run's progress, never documents."""
    return {
        "FunctionName": function,
        "Payload": {
            "action": action,
            "worklist_id.$": "$.worklist_id",
            "epoch.$": "$.epoch",
            f"{last}.$": f"$.{last}",
        },
    }
