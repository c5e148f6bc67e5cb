"""What is wrong with an argument of a construct, found while the app is synthesised."""

import re
from collections.abc import Collection, Mapping
from typing import Any

import aws_cdk as cdk
from constructs import Construct

# Name in the API model of bedrock-agent, botocore 1.44.5.
_NAME = re.compile(r"([0-9a-zA-Z][_-]?){1,100}")

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-indexes.html
_INDEX = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

# Characters of a wrong value that an error shows.
_SHOWN = 200

# What an error says of: a construct, by its path, or what it is handed, by its name.
Owner = Construct | str


class InvalidArgument(ValueError):
    """
    An argument that can't be right. The text names the construct, the argument, what it was and
    what is allowed, so that the app can be mended from it alone.
    """

    def __init__(self, owner: Owner, argument: str, value: Any, allowed: str) -> None:
        place = owner if isinstance(owner, str) else owner.node.path
        told = repr(value)
        if len(told) > _SHOWN:
            told = f"{told[:_SHOWN]}..."
        super().__init__(f"{place}: {argument} {told} must be {allowed}")
        self.argument = argument
        self.value = value
        self.allowed = allowed


class TooLarge(ValueError):
    """More bytes than Lambda takes. The text names the limit, and the longest parts to shorten."""

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
        told = ", ".join(f"{name!r} with {length:,}" for name, length in longest)
        super().__init__(
            f"{construct.node.path}: {what} has {size:,} bytes and may have {limit:,}, since Lambda"
            f" takes 4 KB of environment variables. {advice}; the longest: {told}"
        )


def check_range(owner: Owner, argument: str, value: Any, least: int, most: int) -> None:
    """A whole number from `least` to `most`; one that is known only on deployment passes."""
    if isinstance(value, bool) or not isinstance(value, int) or _is_outside(value, least, most):
        raise InvalidArgument(owner, argument, value, f"a whole number of {least:,} to {most:,}")


def check_choice(owner: Owner, argument: str, value: Any, choices: Collection[str]) -> None:
    if value not in choices:
        raise InvalidArgument(owner, argument, value, f"one of {', '.join(choices)}")


def check_said(owner: Owner, argument: str, value: Any, longest: int | None = None) -> None:
    """A text with something in it, of at most `longest` characters."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgument(owner, argument, value, "a text that is not blank")
    if longest is not None and len(value) > longest and not cdk.Token.is_unresolved(value):
        raise InvalidArgument(owner, argument, value, f"a text of at most {longest:,} characters")


def check_name(owner: Owner, argument: str, value: Any) -> None:
    """A name that Bedrock gives a knowledge base or a data source."""
    if not cdk.Token.is_unresolved(value) and not _NAME.fullmatch(str(value)):
        allowed = "letters and digits, at most 100, each with one - or _ behind it at most"
        raise InvalidArgument(owner, argument, value, allowed)


def check_index_name(owner: Owner, value: Any) -> None:
    if not cdk.Token.is_unresolved(value) and not _INDEX.fullmatch(str(value)):
        allowed = "3 to 63 lower-case letters, digits, . and -, a letter or digit first and last"
        raise InvalidArgument(owner, "index_name", value, allowed)


def check_kind(owner: Owner, argument: str, value: Any, kind: type, allowed: str) -> None:
    """Python takes anything for an argument; what comes of it later says nothing to its user."""
    if not isinstance(value, kind):
        raise InvalidArgument(owner, argument, value, allowed)


def check_share(owner: Owner, argument: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidArgument(owner, argument, value, "a number of 0 to 1")


def check_flag(owner: Owner, argument: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidArgument(owner, argument, value, "True or False")


def _is_outside(value: int, least: int, most: int) -> bool:
    return not least <= value <= most and not cdk.Token.is_unresolved(value)
