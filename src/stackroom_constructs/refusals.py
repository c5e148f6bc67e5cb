"""What is wrong with an argument of a construct, found while the app is synthesised."""

from typing import Any

from constructs import Construct


class InvalidArgument(ValueError):
    """
    An argument that can't be right. The text names the construct, the argument, what it was and
    what is allowed, so that the app can be mended from it alone.
    """

    def __init__(self, construct: Construct, argument: str, value: Any, allowed: str) -> None:
        super().__init__(f"{construct.node.path}: {argument} {value!r} must be {allowed}")
