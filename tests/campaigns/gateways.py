"""Another gateway before a local mode, of a changed configuration."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stackroom_local.processes import HOST, free_ports, spawn
from stackroom_local.state import Instance


def configuration_of(instance: Instance) -> dict[str, Any]:
    return dict(json.loads((instance.state_dir / "gateway.json").read_text("utf-8")))


@contextmanager
def changed_functions(
    instance: Instance, change: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> Iterator[None]:
    """
    Change the configurations of the gateway's functions for a while.

    `change` returns what to change of one function's, if anything.
    """
    aws_lambda: Any = instance.client("lambda")
    arns = [each["function"] for each in configuration_of(instance)["targets"]]
    before = [aws_lambda.get_function_configuration(FunctionName=arn) for arn in arns]
    changed = [(each, change(each)) for each in before]
    for function, changes in changed:
        if changes:
            aws_lambda.update_function_configuration(
                FunctionName=function["FunctionArn"], **changes
            )
    try:
        yield
    finally:
        for function, changes in changed:
            if changes:
                variables = {"Variables": function["Environment"]["Variables"]}
                aws_lambda.update_function_configuration(
                    FunctionName=function["FunctionArn"],
                    Handler=function["Handler"],
                    Environment=variables,
                )


@contextmanager
def another_gateway(
    instance: Instance, configuration: Mapping[str, Any], folder: Path
) -> Iterator[str]:
    """Its MCP URL; it takes the tokens of the instance's own."""
    port, file = free_ports(1), folder / "gateway.json"
    file.write_text(json.dumps(configuration), "utf-8")
    data = str(instance.state_dir / "gateway")  # the issuer's key
    options = ["--port", str(port), "--config", str(file), "--data-dir", data]
    gateway = spawn(
        "another gateway",
        [sys.executable, "-m", "stackroom_local.gateway", *options],
        log=folder / "gateway.log",
        environment=instance.environment(),
    )
    try:
        gateway.wait_until_healthy(
            f"http://{HOST}:{port}/.well-known/oauth-protected-resource", 300
        )
        yield f"http://{HOST}:{port}/mcp"
    finally:
        gateway.ask_to_stop()
        gateway.end()
