"""The mark of the rules that a test enforces; docs/fidelity.json lists the tests by rule."""

from collections.abc import Callable
from fnmatch import filter as matching
from typing import TypeVar

from bedrock_kb_simulator.rules import RULES

Test = TypeVar("Test", bound=Callable[..., None])


def holds(*patterns: str) -> Callable[[Test], Test]:
    """
    Declare that the test fails if the simulator breaks these rules.

    Rules are given by name or glob pattern (`rate.*`). They must be literals, since
    `docs.generate` reads them without running the tests.
    """
    strange = [pattern for pattern in patterns if not matching(RULES, pattern)]
    assert not strange, f"no rules are named {strange}"
    return lambda test: test
