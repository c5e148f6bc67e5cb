"""`python -m stackroom_local.gateway --port P --config FILE --data-dir D` serves until SIGTERM."""

import argparse
from pathlib import Path

import uvicorn

from bedrock_kb_simulator.request_timeouts import PatientProtocol
from stackroom_local.gateway.app import gateway_app
from stackroom_local.gateway.configuration import GatewayConfiguration
from stackroom_local.gateway.cors import checked_origin

HOST = "127.0.0.1"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m stackroom_local.gateway", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--config", type=Path, required=True, help="a GatewayConfiguration, JSON")
    parser.add_argument("--data-dir", type=Path, required=True, help="the issuer's key, and logs/")
    parser.add_argument("--allow-origins", default="", help="of pages, with spaces between")
    arguments = parser.parse_args()

    configuration = GatewayConfiguration.model_validate_json(arguments.config.read_bytes())
    app = gateway_app(
        configuration,
        data_dir=arguments.data_dir,
        url=f"http://{HOST}:{arguments.port}",
        origins=[checked_origin(each) for each in arguments.allow_origins.split()],
    )
    uvicorn.run(
        app,
        host=HOST,
        port=arguments.port,
        http=PatientProtocol,
        log_level="warning",
        timeout_graceful_shutdown=2,  # a stuck call must not keep the local mode from ending
    )


if __name__ == "__main__":
    main()
