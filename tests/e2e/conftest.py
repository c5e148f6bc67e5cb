"""
Real clients of the one local mode that all end-to-end tests share (conftest.py).
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.state import Instance
from tests.e2e.people import Person


@pytest.fixture(scope="session")
def aws(instance: Instance) -> Callable[[str], Any]:
    """`aws("s3")` is the boto3 client of that service, with the root-like keys."""
    return instance.client


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
