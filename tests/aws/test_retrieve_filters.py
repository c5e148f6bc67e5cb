"""Two filters of Bedrock's demanded at once."""

from typing import Any

import pytest

from stackroom.aws.retrieve_filters import both, can_be_narrowed


def equals(key: str) -> dict[str, Any]:
    return {"equals": {"key": key, "value": "x"}}


def leaves(names: str) -> list[dict[str, Any]]:
    return [equals(name) for name in names]


def depth(condition: dict[str, Any]) -> int:
    inner = [*condition.get("andAll", ()), *condition.get("orAll", ())]
    return 1 + max(map(depth, inner)) if inner else 0


def widest(condition: dict[str, Any]) -> int:
    inner = [*condition.get("andAll", ()), *condition.get("orAll", ())]
    return max([len(inner), *map(widest, inner)])


def test_one_filter_alone_stays_as_it_is() -> None:
    nested = {"orAll": [{"andAll": leaves("ab")}, {"andAll": leaves("cd")}]}

    assert both(None, None) is None
    assert both(equals("a"), None) == equals("a")
    assert both(None, equals("a")) == equals("a")
    assert both(nested, None) == nested  # alone it is as deep as Bedrock takes


def test_two_filters_are_demanded_in_one_group() -> None:
    choice = {"orAll": leaves("bc")}

    assert both(equals("a"), equals("b")) == {"andAll": leaves("ab")}
    assert both(equals("a"), choice) == {"andAll": [equals("a"), choice]}
    assert both({"andAll": leaves("ab")}, {"andAll": leaves("cde")}) == {"andAll": leaves("abcde")}
    assert both({"andAll": [equals("a"), {"andAll": leaves("bc")}]}, equals("d")) == {
        "andAll": leaves("abcd")
    }


def test_more_demands_than_a_group_takes_are_put_in_groups_of_their_own() -> None:
    choices = [{"orAll": leaves(names)} for names in ("pq", "rs", "tu")]

    whole = both({"andAll": leaves("abc")}, {"andAll": [*leaves("de"), *choices]})
    many = both({"andAll": [{"andAll": leaves("abcde")}, {"andAll": leaves("fghij")}]}, equals("k"))

    assert whole == {"andAll": [{"andAll": leaves("abcde")}, *choices]}
    assert many == {
        "andAll": [{"andAll": leaves("abcde")}, {"andAll": leaves("fghij")}, equals("k")]
    }
    for condition in (whole, many):
        assert (depth(dict(condition)), widest(dict(condition)) <= 5) == (2, True)


def test_what_bedrock_would_not_take_is_refused() -> None:
    deep = {"orAll": [{"andAll": leaves("ab")}, equals("c")]}
    choices = [{"orAll": leaves("ab")} for _ in range(5)]

    with pytest.raises(ValueError, match="an orAll that holds groups"):
        both(deep, equals("d"))
    with pytest.raises(ValueError, match="an orAll that holds groups"):
        both(equals("d"), deep)
    with pytest.raises(ValueError, match="more than 5 members"):
        both({"andAll": choices}, equals("d"))


@pytest.mark.parametrize(
    ("fixed", "expected"),
    [
        (equals("a"), True),
        ({"orAll": leaves("abcde")}, True),
        ({"andAll": leaves("abcde")}, True),
        ({"andAll": [{"orAll": leaves("ab")} for _ in range(4)]}, True),
        ({"andAll": [{"orAll": leaves("ab")} for _ in range(5)]}, False),
        ({"orAll": [{"andAll": leaves("ab")}, equals("c")]}, False),
    ],
)
def test_a_fixed_filter_tells_whether_more_can_be_demanded(
    fixed: dict[str, Any], expected: bool
) -> None:
    assert can_be_narrowed(fixed) is expected
