"""`python -m stackroom_local.console_server --port P --function NAME ...` serves until SIGTERM."""

import argparse
import json
import sys

import uvicorn

from stackroom.access.access_log import EVENT, Access
from stackroom.aws.session import client
from stackroom_console.app import console_app
from stackroom_console.wiring import ConsoleSettings, console_of
from stackroom_local.function_processes.process_hook import run_hook
from stackroom_local.gateway.issuer import CLIENT_ID
from stackroom_local.processes import HOST


def report_access(access: Access) -> None:
    """
    Write the audit line and its metric to this server's log, as functions/telemetry.py makes them.
    """
    figure = {
        "Namespace": "Stackroom",
        "Dimensions": [["service", "tool", "outcome"]],
        "Metrics": [{"Name": "ToolLatency", "Unit": "Milliseconds"}],
    }
    counted = {"_aws": {"CloudWatchMetrics": [figure]}, "ToolLatency": access.latency_ms}
    line = json.dumps({"message": EVENT, "service": "console", **access.fields(), **counted})
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - a server's log


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m stackroom_local.console_server", description=__doc__
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--function", required=True, help="whose environment it takes")
    parser.add_argument("--speed", required=True, help="of everything here; 1 is AWS's")
    parser.add_argument("--issuer", required=True, help="where users sign in")
    parser.add_argument("--gateway", required=True, help="where agents find the tools")
    parser.add_argument(
        "--command-line", required=True, help="the command line, {} for the command"
    )
    arguments = parser.parse_args()

    deployed = client("lambda").get_function_configuration(FunctionName=arguments.function)
    # From here on it does what the function would.
    run_hook(arguments.function)
    settings = ConsoleSettings.from_env(
        {
            **deployed["Environment"]["Variables"],
            "INGEST_SPEED": arguments.speed,
            "CONSOLE_URL": f"http://{HOST}:{arguments.port}",
            "CONSOLE_CLIENT_ID": CLIENT_ID,
            "MCP_URL": arguments.gateway,
            "COMMAND_LINE": arguments.command_line,
            "IDENTITY_ISSUER": arguments.issuer,
            "IDENTITY_JWKS_URL": f"{arguments.issuer}/.well-known/jwks.json",
            "IDENTITY_CLIENT_IDS": json.dumps([CLIENT_ID]),
        }
    )
    console = console_of(settings, client, log=report_access)
    uvicorn.run(
        console_app(console),
        host=HOST,
        port=arguments.port,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=2,  # a stuck request must not keep the local mode from ending
    )


if __name__ == "__main__":
    main()
