"""Starts an S3 and a simulator, each on a free port of this machine."""

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.world import KEY, World, eventually

FAST = 100.0


@contextmanager
def ministack() -> Iterator[str]:
    """Run ministack and yield its endpoint, which serves SQS and other services, too."""
    port = free_port()
    settings = {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "ministack"],
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            endpoint = f"http://127.0.0.1:{port}"
            eventually(lambda: answers(f"{endpoint}/_ministack/health"))
            yield endpoint
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def simulated(
    data_dir: Path, s3_endpoint: str, *, speed: float = FAST, **more: Any
) -> Iterator[World]:
    """Run a simulator in this process; `more` goes into its `Configuration`."""
    configuration = Configuration(data_dir=data_dir, s3_endpoint=s3_endpoint, speed=speed, **more)
    with Simulator(configuration) as simulator:
        yield World(simulator.endpoint, s3_endpoint, patient=True)


@contextmanager
def running(data_dir: Path, s3_endpoint: str, speed: float) -> Iterator[str]:
    """Run the simulator as a separate process, killed at the end."""
    port = free_port()
    options = {"--port": port, "--data-dir": data_dir, "--s3-endpoint": s3_endpoint}
    command = [sys.executable, "-m", "bedrock_kb_simulator", "--speed", str(speed)]
    for name, value in options.items():
        command += [name, str(value)]
    signed = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": KEY}
    with subprocess.Popen(command, env={**os.environ, **signed}) as process:
        endpoint = f"http://127.0.0.1:{port}"
        try:
            eventually(lambda: answers(f"{endpoint}/health"))
            yield endpoint
        finally:
            process.kill()
