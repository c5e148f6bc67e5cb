"""Functions as processes: warm, failing, stuck, crashing, and gone with their parent."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackroom_local.gateway.gateway_configuration import FunctionConfiguration
from stackroom_local.gateway.lambda_functions import LambdaFunction
from tests.gateway.serving import ROOT, a_call, a_target, serving, wait_until

pytestmark = pytest.mark.processes

Make = Callable[..., LambdaFunction]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    functions: list[LambdaFunction] = []

    def function(**changes: Any) -> LambdaFunction:
        configuration = FunctionConfiguration(
            **{
                "name": "echo",
                "handler": "tests.gateway.echo_function.handler",
                "timeout_seconds": 60,
                **changes,
            }
        )
        made = LambdaFunction(configuration, task_root=ROOT, logs=tmp_path / "logs")
        functions.append(made)
        return made

    yield function
    for each in functions:
        each.close()


def answer(function: LambdaFunction, **event: Any) -> Any:
    outcome = function.invoke(json.dumps(event).encode())
    assert not outcome.failed, outcome.payload
    return json.loads(outcome.payload)


def error(function: LambdaFunction, **event: Any) -> dict[str, Any]:
    outcome = function.invoke(json.dumps(event).encode())
    assert outcome.failed
    return dict(json.loads(outcome.payload))


def test_function_gets_its_variables_deadline_and_client_context(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_PARENT", "value")
    function = make(environment={"GREETING": "hello"}, timeout_seconds=600)
    custom = {"bedrockAgentCoreToolName": "t___ü"}

    plain = answer(function, query="something to find")
    told = function.invoke(b"{}", client_context=json.dumps({"custom": custom}))

    names = set(plain["environment"])
    assert {"GREETING", "AWS_REGION", "AWS_LAMBDA_FUNCTION_NAME", "LAMBDA_TASK_ROOT"} <= names
    assert "SECRET_OF_THE_PARENT" not in names
    assert 500_000 < plain["remaining_ms"] <= 600_000
    assert plain["custom"] is None
    assert json.loads(told.payload)["custom"] == custom
    assert "echoed something to find" in (tmp_path / "logs" / "echo.log").read_text()


def test_function_error_is_returned_and_its_process_stays_alive(make: Make) -> None:
    function = make()
    before = answer(function)["process"]

    raised, large = error(function, do="raise"), error(function, do="large")

    assert (raised["errorType"], raised["errorMessage"]) == ("RuntimeError", "kaboom")
    assert any("echo_function.py" in line for line in raised["stackTrace"])
    assert large["errorType"] == "Function.ResponseSizeTooLarge"
    assert answer(function)["process"] == before


def test_stuck_invocation_ends_at_its_timeout_and_next_one_is_served(make: Make) -> None:
    function = make(timeout_seconds=2)
    before = answer(function)["process"]

    failure = error(function, do="sleep", seconds=3600)

    assert failure["errorType"] == "Sandbox.Timedout"
    assert failure["errorMessage"].endswith("Task timed out after 2.00 seconds")
    assert not is_running(before)
    assert answer(function)["process"] != before


def test_crash_answers_its_invocation_and_dead_process_is_replaced(
    make: Make,
) -> None:
    function = make()

    failure = error(function, do="exit")
    served = answer(function, query="again")
    os.kill(served["process"], signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(served["process"]))
    # An invocation before its end was noticed is answered with it.
    wait_until(lambda: not function.invoke(b"{}").failed)

    assert failure == {
        "errorType": "Runtime.ExitError",
        "errorMessage": "Runtime exited with error: exit status 3",
    }
    assert served["event"] == {"query": "again"}
    assert answer(function)["process"] != served["process"]


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_gateway(tmp_path: Path, end: signal.Signals) -> None:
    # Asked to stop, it gives the calls that it serves two seconds, whatever their functions have.
    targets = [a_target(timeout_seconds=3600, max_environments=1)]
    with serving(tmp_path, targets=targets) as gateway, ThreadPoolExecutor(max_workers=2) as pool:
        token = gateway.issuer.mint("alice")
        gateway.echo(token=token, query="hi")
        call = a_call(do="sleep", seconds=3600)
        calls = [pool.submit(gateway.post, call, token=token) for _ in range(2)]
        wait_until(lambda: "asleep" in gateway.log_of("echo"))
        environments = psutil.Process(gateway.process.pid).children()

        gateway.process.send_signal(end)
        _, alive = psutil.wait_procs(environments, timeout=120)

        assert len(environments) >= 2  # the interceptor's and the busy tool's
        assert alive == []
        assert gateway.process.wait(timeout=120) is not None
        wait(calls)


def is_running(process: int) -> bool:
    return psutil.pid_exists(process) and psutil.Process(process).status() != "zombie"
