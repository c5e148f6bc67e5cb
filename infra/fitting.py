"""The size and the order of search results, from the CDK context."""

from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

from infra.contexts import choice

# The limits of the function [src/stackroom/search/search_arguments.py].
MAX_TOKENS = 100_000
PRIORITIES = ("similarity", "recency", "balanced")


@dataclass(frozen=True, kw_only=True)
class Fitting:
    """The defaults of every search."""

    max_tokens: int
    prioritize_by: str

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        given = str(app.node.get_context("retrieve_max_tokens"))
        # isdecimal() alone lets through what int() reads in other scripts, and any length.
        is_number = given.isascii() and given.isdecimal() and len(given) <= 6
        if not is_number or not 1 <= int(given) <= MAX_TOKENS:
            allowed = f"a whole number of 1 to {MAX_TOKENS:,}"
            raise ValueError(f"context retrieve_max_tokens {given!r} must be {allowed}")
        first = choice(app, "retrieve_prioritize_by", PRIORITIES)
        return cls(max_tokens=int(given), prioritize_by=first)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "RETRIEVE_MAX_TOKENS": str(self.max_tokens),
            "RETRIEVE_PRIORITIZE_BY": self.prioritize_by,
        }
