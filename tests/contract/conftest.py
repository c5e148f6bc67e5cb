"""The whole deployment as templates/ has it, which make templates keeps like its source."""

from pathlib import Path

import pytest

from tests.infra.assembly import Assembly
from tests.support.strict_requests import strict_requests

__all__ = ["strict_requests"]

TEMPLATES = Path(__file__).parents[2] / "templates" / "default"


@pytest.fixture(scope="session")
def deployment() -> Assembly:
    """The stacks of the templates that the local mode serves; nothing is synthesised."""
    return Assembly(TEMPLATES)
