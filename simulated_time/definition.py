"""
Parses a state machine's definition for `simulated_time.workflow`.

It supports the parts of the Amazon States Language, with JSONPath, that statemachines/ uses, and
refuses everything else, because an incomplete execution would prove nothing.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from simulated_time.paths import Unsupported, reader, template, writer
from simulated_time.states import (
    Catcher,
    Choice,
    Definition,
    Fail,
    Pass,
    Retrier,
    State,
    Succeed,
    Task,
    Wait,
)

_INVOKE = "arn:aws:states:::lambda:invoke"
_WAIT_FOR_TOKEN = f"{_INVOKE}.waitForTaskToken"


def definition_of(text: str, functions: Mapping[str, str]) -> Definition:
    """Parse a definition; `functions` replace its placeholders. Raises Unsupported."""
    for placeholder, function in functions.items():
        text = text.replace(f"${{{placeholder}}}", function)
    machine = json.loads(text)
    _known("the machine", machine, "StartAt", "States", "TimeoutSeconds")
    states = {name: _state(name, given) for name, given in machine["States"].items()}
    return Definition(
        start_at=machine["StartAt"],
        timeout=machine.get("TimeoutSeconds", float("inf")),
        states=states,
    )


def _state(name: str, given: dict[str, Any]) -> State:
    read = _STATES.get(given["Type"])
    if read is None:
        raise Unsupported(f"{name} of type {given['Type']}")
    return read(name, given)


def _task(name: str, given: dict[str, Any]) -> Task:
    _known(
        name,
        given,
        *("Resource", "Parameters", "OutputPath", "ResultPath", "TimeoutSeconds"),
        *("Retry", "Catch", "Next", "End"),
    )
    if given["Resource"] not in (_INVOKE, _WAIT_FOR_TOKEN):
        raise Unsupported(f"{given['Resource']} of {name}")
    _known(f"Parameters of {name}", given["Parameters"], "FunctionName", "Payload")
    if "ResultPath" in given and given["ResultPath"] is not None:
        raise Unsupported(f"a result of {name} kept elsewhere, with what Lambda adds to a payload")
    return Task(
        name=name,
        function=given["Parameters"]["FunctionName"].rpartition(":")[2],
        by_token=given["Resource"] == _WAIT_FOR_TOKEN,
        payload=template(given["Parameters"]["Payload"]),
        write=writer(given.get("ResultPath", "$")),
        output=reader(given.get("OutputPath", "$")),
        timeout=given.get("TimeoutSeconds", float("inf")),
        retriers=tuple(_retrier(name, each) for each in given.get("Retry", ())),
        catchers=tuple(_catcher(name, each) for each in given.get("Catch", ())),
        next=_next(name, given),
    )


def _retrier(name: str, given: dict[str, Any]) -> Retrier:
    _known(
        f"Retry of {name}",
        given,
        *("ErrorEquals", "IntervalSeconds", "BackoffRate", "MaxAttempts", "MaxDelaySeconds"),
        "JitterStrategy",
    )
    # The defaults are those of the States Language: 1 second, 2.0, 3 attempts, NONE.
    return Retrier(
        errors=frozenset(given["ErrorEquals"]),
        interval=given.get("IntervalSeconds", 1),
        backoff=given.get("BackoffRate", 2.0),
        attempts=given.get("MaxAttempts", 3),
        longest=given.get("MaxDelaySeconds", float("inf")),
        jitter=given.get("JitterStrategy", "NONE") == "FULL",
    )


def _catcher(name: str, given: dict[str, Any]) -> Catcher:
    _known(f"Catch of {name}", given, "ErrorEquals", "ResultPath", "Next")
    return Catcher(
        errors=frozenset(given["ErrorEquals"]),
        write=writer(given.get("ResultPath", "$")),
        next=given["Next"],
    )


def _choice(name: str, given: dict[str, Any]) -> Choice:
    _known(name, given, "Choices", "Default")
    for case in given["Choices"]:
        _known(f"Choices of {name}", case, "Variable", "StringEquals", "Next")
    return Choice(
        name=name,
        cases=tuple(
            (reader(case["Variable"]), case["StringEquals"], case["Next"])
            for case in given["Choices"]
        ),
        default=given["Default"],
    )


def _wait(name: str, given: dict[str, Any]) -> Wait:
    _known(name, given, "Seconds", "SecondsPath", "Next", "End")
    seconds = given.get("Seconds")
    return Wait(
        name=name,
        seconds=reader(given["SecondsPath"]) if seconds is None else template(seconds),
        next=_next(name, given),
    )


def _pass(name: str, given: dict[str, Any]) -> Pass:
    _known(name, given, "Result", "ResultPath", "Next", "End")
    return Pass(
        name=name,
        result=given.get("Result"),
        replaces="Result" in given,
        write=writer(given.get("ResultPath", "$")),
        next=_next(name, given),
    )


def _succeed(name: str, given: dict[str, Any]) -> Succeed:
    _known(name, given)
    return Succeed(name=name)


def _fail(name: str, given: dict[str, Any]) -> Fail:
    _known(name, given, "Error", "Cause")
    return Fail(name=name, error=given["Error"], cause=given["Cause"])


def _next(name: str, given: dict[str, Any]) -> str | None:
    """Return the next state's name, or None if the state ends the execution."""
    if ("Next" in given) == bool(given.get("End")):
        raise Unsupported(f"{name} with both Next and End, or neither")
    return given.get("Next")


def _known(where: str, given: Mapping[str, Any], *fields: str) -> None:
    unknown = set(given) - {*fields, "Type", "Comment"}
    if unknown:
        raise Unsupported(f"{', '.join(sorted(unknown))} in {where}")


_STATES: dict[str, Callable[[str, dict[str, Any]], State]] = {
    "Task": _task,
    "Choice": _choice,
    "Wait": _wait,
    "Pass": _pass,
    "Succeed": _succeed,
    "Fail": _fail,
}
