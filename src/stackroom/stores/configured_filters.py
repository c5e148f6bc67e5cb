"""
Two of Bedrock's filters as one that demands both, in as few levels as Bedrock takes.

AWS documents at most five filters a group, and groups in a group, but none in these.
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

Rendered = Mapping[str, Any]  # one operator, and what it is about

MOST_MEMBERS = 5
_GROUPS = ("andAll", "orAll")


def both(fixed: Rendered | None, demanded: Rendered | None) -> Rendered | None:
    """
    What the fixed filter and the demanded one both let through; None if there is neither.

    One alone stays as it is. Raises ValueError if both together are deeper or wider than Bedrock
    takes; of fixed filters, one that `can_be_narrowed` refuses always is.
    """
    if fixed is None or demanded is None:
        return demanded if fixed is None else fixed
    members = [*_demands(fixed), *_demands(demanded)]
    groups = [each for each in members if _is_group(each)]
    if any(_is_group(inner) for group in groups for inner in _members(group)):
        raise ValueError("an orAll that holds groups can't be demanded beside another filter")
    single = [each for each in members if not _is_group(each)]
    if len(members) > MOST_MEMBERS:
        single = _packed(single)
    joined = [*single, *groups]
    if len(joined) > MOST_MEMBERS:
        raise ValueError(f"both filters together need more than {MOST_MEMBERS} members in a group")
    return {"andAll": joined}


def can_be_narrowed(fixed: Rendered) -> bool:
    """Whether there is room beside this filter for one more demand, of any kind."""
    group: Rendered = {"orAll": [{"equals": {"key": "k", "value": at}} for at in range(2)]}
    try:
        both(fixed, group)
    except ValueError:
        return False
    return True


def _demands(condition: Rendered) -> list[Rendered]:
    """All that must hold each by itself: an andAll within an andAll needs no group of its own."""
    if "andAll" not in condition:
        return [condition]
    return [demand for member in _members(condition) for demand in _demands(member)]


def _packed(single: Sequence[Rendered]) -> list[Rendered]:
    """In groups of their own, of which none has a sole member."""
    packs = [single[at : at + MOST_MEMBERS] for at in range(0, len(single), MOST_MEMBERS)]
    return [{"andAll": list(pack)} if len(pack) > 1 else pack[0] for pack in packs]


def _is_group(condition: Rendered) -> bool:
    return any(each in condition for each in _GROUPS)


def _members(group: Rendered) -> Sequence[Rendered]:
    [members] = group.values()
    return cast("Sequence[Rendered]", members)
