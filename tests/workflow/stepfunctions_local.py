"""
npm's stepfunctions-local: the package served, and the shim without which it runs nothing of ours.

It is of 2019 (1.3.1, Apache-2.0) and knows of a Lambda task no more than a function's ARN as its
Resource: the whole input goes to the function, and its answer is the result. So the shim does the
work of the integration arn:aws:states:::lambda:invoke:

| in the definition or on the wire | what the engine gets |
| --- | --- |
| Resource, Parameters, OutputPath $.Payload | as Resource a function named after the state |
| a call of that function | Payload, filled in here, goes to the function of FunctionName |
| X-Amz-Function-Error: Unhandled | the errorType of the payload, which it compares with Catch |

Everything else stands as it deploys. A task that waits for its token stays as it is: there are none
here. It retries nothing by name and keeps no `TimeoutSeconds`; its executions end as SUCCEEDED.
"""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from stackroom_local.processes import HOST, Child, free_ports, spawn
from tests.clients.environments import installed_npm
from tests.workflow.engine import Engine, Invoked, bare, lambda_endpoint, served
from tests.workflow.functions import Payload, Reply

PINNED = Path(__file__).parent / "npm"
_NAME = "stepfunctions-local"
_INTEGRATION = "arn:aws:states:::lambda:invoke"
_FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:"
_PATIENCE = 60.0  # seconds: of a busy machine; nothing is proved by it
# The package's own way to be started; its command would listen on every address.
_START = "require(process.argv[1]).start(JSON.parse(process.argv[2]))"
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE": "1",
}


@dataclass
class Shim:
    """Between definitions as they deploy, with their functions, and the engine."""

    _tasks: dict[str, Payload] = field(default_factory=dict)  # Parameters, by name of the state
    _functions: Invoked | None = None

    def adapted(self, definition: str) -> str:
        machine = json.loads(definition)
        for name, state in machine["States"].items():
            if state.get("Resource") == _INTEGRATION:
                said = state.pop("OutputPath", None)
                silent = state.get("ResultPath", "$") is None
                assert silent or said == "$.Payload", f"{name}: another answer is not known here"
                self._tasks[name] = state.pop("Parameters")
                state["Resource"] = f"{_FUNCTION}{name}"
        return json.dumps(machine)

    def invoke(self, state: str, given: Payload) -> Reply:
        """What the function of that state's task answers."""
        assert self._functions is not None, "a task is called while there are functions"
        if state not in self._tasks:
            return self._functions.invoke(state, given)
        parameters = self._tasks[state]
        function = bare(parameters["FunctionName"])
        return _named(self._functions.invoke(function, filled(parameters["Payload"], given)))

    @contextmanager
    def calling(self, functions: Invoked) -> Iterator[None]:
        self._functions = functions
        try:
            yield
        finally:
            self._functions = None


@contextmanager
def running(folder: Path) -> Iterator[Engine]:
    """The engine with its shim, until it is left; its log is in the folder."""
    package = installed_npm(_NAME, PINNED) / "node_modules" / _NAME
    shim, port = Shim(), free_ports(1)
    with lambda_endpoint(shim.invoke) as functions:
        settings = {
            "port": {"host": HOST, "port": port},  # it goes on to net.Server.listen
            "region": "local",  # its executions are there, whatever is said here
            "lambdaEndpoint": f"http://{HOST}:{functions.server_port}",
        }
        engine = spawn(
            _NAME,
            ["node", "-e", _START, str(package), json.dumps(settings)],
            log=folder / f"{_NAME}.log",
            environment=_ENVIRONMENT,
        )
        try:
            with served(functions):
                _await(engine, port)
                url = f"http://{HOST}:{port}"
                yield Engine(endpoint=url, calling=shim.calling, adapted=shim.adapted)
        finally:
            engine.ask_to_stop()
            engine.end()


def filled(template: Payload, given: Payload) -> Payload:
    """What a template of values, and of paths like `$.progress.outcome`, makes of that input."""
    return dict(
        (name.removesuffix(".$"), _found(value, given)) if name.endswith(".$") else (name, value)
        for name, value in template.items()
    )


def _found(path: str, given: Any) -> Any:
    start, *names = path.split(".")
    assert start == "$", f"only paths into the input are known here, not {path}"
    for name in names:
        given = given[name]
    return given


def _named(reply: Reply) -> Reply:
    """The error's own name is where this engine looks for it."""
    if not reply.function_error:
        return reply
    assert isinstance(reply.payload, dict), "it tells of an exception"
    return replace(reply, kind=reply.payload["errorType"])


def _await(engine: Child, port: int) -> None:
    deadline = monotonic() + _PATIENCE
    while not _listens(port):
        engine.check()
        assert monotonic() < deadline, f"{_NAME} does not come up"
        sleep(0.02)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0
