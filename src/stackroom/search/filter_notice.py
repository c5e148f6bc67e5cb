"""What an answer says of a filter that lets nothing through, or less than its asker may think."""

from collections.abc import Iterable

from stackroom.access.search_filter_argument import key_of, uncompared
from stackroom.documents.attributes import AttributeType, AttributeTypes
from stackroom.documents.filters import Conditions
from stackroom.search.fan_out import Replies, SearchScope

_MOST_NAMED = 20


def filter_notice(asked: Conditions, scope: SearchScope, replies: Replies) -> str | None:
    """
    None where there is nothing to say. An attribute that is not on record is no reason to refuse:
    others who share documents may have it.
    """
    said = []
    absent = [key_of(each) for each in asked if key_of(each) not in scope.types]
    if absent:
        names = ", ".join(f"{each!r}" for each in absent)
        said.append(f"no document of yours is recorded with the attribute {names}")
    said += [
        f"{key_of(each)!r} is {_kinds(left)} in some documents, which the filter leaves out"
        for each in asked
        if (left := uncompared(each, scope.types))
    ]
    if asked and not said and not any(each.passages for each in replies.given):
        said.append("no passage that you may search matches the filter")
    if not said:
        return None
    return f"{'; '.join(said)}. Attributes: {_listed(scope.types)}."


def _kinds(kinds: Iterable[AttributeType]) -> str:
    return " or ".join(sorted(kinds))


def _listed(types: AttributeTypes) -> str:
    listed = [f"{name} ({_kinds(types[name])})" for name in sorted(types)]
    more = len(listed) - _MOST_NAMED
    return ", ".join([*listed[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
