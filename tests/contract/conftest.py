"""The whole deployment, synthesised as tests/infra does it."""

from tests.infra.conftest import assembly
from tests.support.strict_requests import strict_requests

__all__ = ["assembly", "strict_requests"]
