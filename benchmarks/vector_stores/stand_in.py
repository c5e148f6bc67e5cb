"""
A simulator in a process of its own, so that its work is not taken for the product's.

    python -m benchmarks.vector_stores.stand_in PORT FOLDER

It knows who may sign for a collection of OpenSearch Serverless, as the tests' stand-in does.
"""

import logging
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bedrock_kb_simulator.server import (
    Configuration,
    create_app,
    endpoint_of,
    listening,
    server_of,
)
from benchmarks.serving import free_ports, scratch
from simulator.tests.world import eventually
from stackroom_local.clients import endpoint_variables
from stackroom_local.state import REGION
from tests.opensearch.collection import PRINCIPALS, mounted

SPEED = 100  # the simulator scales the rates of an account with it
KEY = "test"  # of those who may read
_NOWHERE = "http://127.0.0.1:9"  # no document comes from S3


@contextmanager
def standing_in() -> Iterator[str]:
    """Its endpoint."""
    port = free_ports()
    with (
        scratch() as folder,
        subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(port), str(folder)],
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        endpoint = f"http://127.0.0.1:{port}"
        try:
            eventually(lambda: _is_up(endpoint))
            yield endpoint
        finally:
            process.terminate()


@contextmanager
def as_product(endpoint: str) -> Iterator[None]:
    """The product's own clients, made within, ask this simulator."""
    region = {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}
    keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": PRINCIPALS[KEY].secret_key}
    with patch.dict(os.environ, {**endpoint_variables(_NOWHERE, endpoint), **region, **keys}):
        yield


def _is_up(endpoint: str) -> bool:
    try:
        with urllib.request.urlopen(f"{endpoint}/health") as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def serve(port: int, folder: Path) -> None:
    logging.basicConfig(level=logging.WARNING)
    configuration = Configuration(
        data_dir=folder, s3_endpoint=_NOWHERE, speed=SPEED, mounted=mounted()
    )
    listener = listening(port)
    server_of(create_app(configuration, endpoint_of(listener))).run(sockets=[listener])


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
