"""Marks the rules of the simulator that a test holds; docs/fidelity.json lists them by rule."""

from collections.abc import Callable
from fnmatch import filter as matching
from typing import TypeVar

from bedrock_kb_simulator.rules import RULES

Test = TypeVar("Test", bound=Callable[..., None])


def holds(*patterns: str) -> Callable[[Test], Test]:
    """
    Says that the test fails where the simulator breaks these rules.

    By name, or by a pattern of names as of files (`rate.*`). The names must be literals, since
    `docs.generate` reads them without running the tests.
    """
    strange = [pattern for pattern in patterns if not matching(RULES, pattern)]
    assert not strange, f"no rules are named {strange}"
    return lambda test: test
