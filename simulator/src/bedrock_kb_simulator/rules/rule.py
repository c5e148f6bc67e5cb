"""A rule, and the table of all rules."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from bedrock_kb_simulator.service_errors import ServiceError


@dataclass(frozen=True, kw_only=True)
class Rule:
    """
    A behaviour of AWS; `broken` returns its error, `value` is its limit or duration.

    `status` is the HTTP status of an error that no service model of botocore has.
    """

    name: str
    says: str
    source: str
    value: float = 0
    error: str = "ValidationException"
    message: str = ""
    status: int = 0

    @property
    def limit(self) -> int:
        return int(self.value)

    def broken(self, **details: Any) -> ServiceError:
        return ServiceError(self.error, self.message.format(limit=self.limit, **details))


RULES: dict[str, Rule] = {}


def rule(name: str, says: str, source: str, **details: Any) -> Rule:
    assert name not in RULES, f"two rules are named {name}"
    RULES[name] = Rule(name=name, says=says, source=source, **details)
    return RULES[name]


conflict = partial(rule, error="ConflictException")
over_quota = partial(rule, error="ServiceQuotaExceededException")
