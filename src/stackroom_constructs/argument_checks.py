"""Validation of constructs' arguments during synthesis."""

import re
from collections.abc import Collection, Mapping
from typing import Any

import aws_cdk as cdk
from constructs import Construct

# Name in the API model of bedrock-agent, botocore 1.44.5.
_NAME = re.compile(r"([0-9a-zA-Z][_-]?){1,100}")

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-indexes.html
_INDEX = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

# Characters of an invalid value that an error shows.
_SHOWN = 200

# The subject of an error: a construct, by its path, or an argument object, by its name.
Owner = Construct | str


class InvalidArgument(ValueError):
    """
    An argument is invalid.

    The text names the construct, the argument, its value and what is allowed, so that it is enough
    to correct the app.
    """

    def __init__(self, owner: Owner, argument: str, value: Any, allowed: str) -> None:
        place = owner if isinstance(owner, str) else owner.node.path
        shown = repr(value)
        if len(shown) > _SHOWN:
            shown = f"{shown[:_SHOWN]}..."
        super().__init__(f"{place}: {argument} {shown} must be {allowed}")
        self.argument = argument
        self.value = value
        self.allowed = allowed


class TooLarge(ValueError):
    """
    The environment is larger than Lambda allows; the text names the limit and the longest parts.
    """

    def __init__(
        self,
        construct: Construct,
        what: str,
        size: int,
        limit: int,
        *,
        parts: Mapping[str, int],
        advice: str,
    ) -> None:
        longest = sorted(parts.items(), key=lambda part: -part[1])[:3]
        parts_text = ", ".join(f"{name!r} with {length:,}" for name, length in longest)
        super().__init__(
            f"{construct.node.path}: {what} has {size:,} bytes and may have {limit:,}, since Lambda"
            f" allows 4 KB of environment variables. {advice}; the longest: {parts_text}"
        )


def check_range(owner: Owner, argument: str, value: Any, least: int, most: int) -> None:
    """Check for a whole number from `least` to `most`; a token passes."""
    if isinstance(value, bool) or not isinstance(value, int) or _is_outside(value, least, most):
        raise InvalidArgument(owner, argument, value, f"a whole number of {least:,} to {most:,}")


def check_choice(owner: Owner, argument: str, value: Any, choices: Collection[str]) -> None:
    if value not in choices:
        raise InvalidArgument(owner, argument, value, f"one of {', '.join(choices)}")


def check_text(owner: Owner, argument: str, value: Any, longest: int | None = None) -> None:
    """Check for a text that is not blank, of at most `longest` characters."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgument(owner, argument, value, "non-blank text")
    if longest is not None and len(value) > longest and not cdk.Token.is_unresolved(value):
        raise InvalidArgument(owner, argument, value, f"a text of at most {longest:,} characters")


def check_name(owner: Owner, argument: str, value: Any) -> None:
    """Check a name of a knowledge base or a data source in Bedrock."""
    if not cdk.Token.is_unresolved(value) and not _NAME.fullmatch(str(value)):
        allowed = "at most 100 letters and digits, each followed by at most one - or _"
        raise InvalidArgument(owner, argument, value, allowed)


def check_index_name(owner: Owner, value: Any) -> None:
    if not cdk.Token.is_unresolved(value) and not _INDEX.fullmatch(str(value)):
        allowed = (
            "3 to 63 lower-case letters, digits, . and -, with a letter or digit first and last"
        )
        raise InvalidArgument(owner, "index_name", value, allowed)


def check_kind(owner: Owner, argument: str, value: Any, kind: type, allowed: str) -> None:
    """Check a type, which Python doesn't do: later errors would mean nothing to the user."""
    if not isinstance(value, kind):
        raise InvalidArgument(owner, argument, value, allowed)


def check_fraction(owner: Owner, argument: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidArgument(owner, argument, value, "a number of 0 to 1")


def check_flag(owner: Owner, argument: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidArgument(owner, argument, value, "True or False")


def _is_outside(value: int, least: int, most: int) -> bool:
    return not least <= value <= most and not cdk.Token.is_unresolved(value)
