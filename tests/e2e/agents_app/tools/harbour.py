"""A tool of a third party, which needs a module out of a layer."""

from harbour_master import MASTER  # type: ignore[import-not-found]  # a layer holds it
from strands import tool


@tool
def harbour_master() -> str:
    """Who is harbour master."""
    return f"The harbour master is {MASTER}."
