"""The whole deployment, synthesised as tests/infra does it."""

from tests.infra.conftest import assembly

__all__ = ["assembly"]
