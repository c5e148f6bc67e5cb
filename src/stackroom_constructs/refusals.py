"""What is wrong with an argument of a construct, found while the app is synthesised."""

from collections.abc import Mapping
from typing import Any

from constructs import Construct


class InvalidArgument(ValueError):
    """
    An argument that can't be right. The text names the construct, the argument, what it was and
    what is allowed, so that the app can be mended from it alone.
    """

    def __init__(self, construct: Construct, argument: str, value: Any, allowed: str) -> None:
        super().__init__(f"{construct.node.path}: {argument} {value!r} must be {allowed}")


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
