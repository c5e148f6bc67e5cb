"""
One local mode for all end-to-end tests, at twenty times AWS's speed, and real clients of it.

Its pool of one knowledge base has places for four catalogs, so the tests that share it ingest into
these and no others: alice/research, bob/notes, ida/harbour, kim/sea.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.clients import client
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import local_mode
from tests.permissions.recorded import recording


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """
    A running local mode: endpoints, bucket, MCP URL. Stopped when the session ends.

    With sharing, which changes nothing for a user in no group. What its functions ask AWS for is
    recorded, beside its state directory.
    """
    folder = tmp_path_factory.mktemp("local-mode")
    with recording(folder), local_mode(folder / "state", "--sharing") as running:
        yield running


@pytest.fixture(scope="session")
def aws(instance: Instance) -> Callable[[str], Any]:
    """`aws("s3")` is the boto3 client of that service, with the root-like keys."""
    environment = instance.environment()

    def of(service: str) -> Any:
        specific = "AWS_ENDPOINT_URL_" + service.replace("-", "_").upper()
        return client(service, environment.get(specific, instance.aws_endpoint))

    return of


@pytest.fixture(scope="session")
def shell(instance: Instance) -> dict[str, str]:
    """The environment of a shell after `eval "$(stackroom env --operator)"`, for other programs."""
    return {**os.environ, **instance.environment(), "PATH": _with_venv(os.environ["PATH"])}


@pytest.fixture(scope="session")
def alice(instance: Instance) -> Person:
    return Person(instance, "alice")


@pytest.fixture(scope="session")
def bob(instance: Instance) -> Person:
    return Person(instance, "bob")


def _with_venv(path: str) -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{path}"
