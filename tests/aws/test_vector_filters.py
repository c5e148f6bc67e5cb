"""Filters in the words of S3 Vectors, and what is left to look at in the answer."""

from typing import Any

import pytest

from stackroom.access.identity import Caller
from stackroom.access.search_filter_argument import conditions
from stackroom.access.tenancy import Member
from stackroom.aws.s3vectors.s3vectors_filters import (
    MOST_CONSTRAINTS,
    constraints_of,
    is_listed,
    rendered,
)
from stackroom.errors import SearchRefused
from stackroom.model.filters import AllOf, Compares, Comparison, Filter, Has, Lists, any_of


def test_only_a_list_lists() -> None:
    [member] = Member.of(Caller("dora", ("finance", "board")))
    asked = member.filter(conditions({"city": "Rome"}))

    for shared in (["finance"], ["staff", "board"]):
        assert is_listed(asked, {"allowed_groups": shared, "city": "Rome"})
    for other in ("finance", ["Finance"], None):
        assert not is_listed(asked, {"allowed_groups": other, "city": "Rome"})


def test_other_filters_are_left_to_the_store() -> None:
    assert is_listed(any_of([Has("city", "Rome"), Has("city", "Paris")]), {"city": "Oslo"})


def absent_or(operator: str, value: object) -> dict[str, Any]:
    return {"$or": [{"lang": {"$exists": False}}, {"lang": {operator: value}}]}


@pytest.mark.parametrize(
    ("comparison", "value", "expected"),
    [
        ("notEquals", "en", absent_or("$ne", "en")),
        ("notIn", ("en", "fr"), absent_or("$nin", ["en", "fr"])),
        ("in", ("en", "fr"), {"$or": [{"lang": {"$eq": "en"}}, {"lang": {"$eq": "fr"}}]}),
        ("greaterThan", 1, {"lang": {"$gt": 1}}),
        ("greaterThanOrEquals", 1.5, {"lang": {"$gte": 1.5}}),
        ("lessThan", 1, {"lang": {"$lt": 1}}),
        ("lessThanOrEquals", -1, {"lang": {"$lte": -1}}),
        ("startsWith", "e", {"lang": {"$startsWith": "e"}}),
    ],
)
def test_comparison_is_rendered_without_undocumented_behaviour(
    comparison: str, value: Any, expected: dict[str, Any]
) -> None:
    assert rendered(Compares("lang", Comparison(comparison), value)) == expected


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (
            Compares("a", Comparison.STRING_CONTAINS, "b"),
            "stringContains, which S3 Vectors doesn't",
        ),
        (Compares("a", Comparison.LESS_OR_EQUAL, True), "lessThanOrEquals of what is no number"),
        (Has("$or", "x"), "begins with"),
        (Compares("$a", Comparison.NOT_EQUALS, "b"), "begins with"),
        (
            Compares("a", Comparison.NOT_IN, tuple(range(100))),
            "constraints, and S3 Vectors takes 100",
        ),
        (
            AllOf((*[Has("a", 1)] * 60, any_of([Has("b", 2)] * 41))),
            "constraints, and S3 Vectors takes 100",
        ),
    ],
)
def test_filter_that_s3_vectors_cannot_express_is_refused_not_dropped(
    condition: Filter, why: str
) -> None:
    with pytest.raises(SearchRefused, match=why):
        rendered(condition)
    with pytest.raises(SearchRefused, match=why):
        rendered(AllOf((Has("user_id", "alice"), condition)))


def test_as_many_constraints_as_s3_vectors_takes_are_rendered() -> None:
    most = Compares("a", Comparison.IN, tuple(range(MOST_CONSTRAINTS)))

    assert constraints_of(most) == 100
    assert len(rendered(most)["$or"]) == 100


def test_excluded_values_are_left_out_even_if_the_store_returns_them() -> None:
    for condition in (
        Compares("lang", Comparison.NOT_EQUALS, "en"),
        Compares("lang", Comparison.NOT_IN, ("en",)),
    ):
        assert all(is_listed(condition, {"lang": each}) for each in ("fr", None, ["fr"]))
        assert not any(is_listed(condition, {"lang": each}) for each in ("en", ["fr", "en"]))


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Has("city", "Oslo"), False),
        (Has("flag", 1), False),
        (Has("years", 2026), True),
        (Compares("city", Comparison.STARTS_WITH, "R"), True),
        (Compares("city", Comparison.STRING_CONTAINS, "x"), False),
        (Compares("city", Comparison.IN, ("Oslo", "Rome")), True),
        (Compares("years", Comparison.GREATER, 2025), True),
        (Compares("flag", Comparison.LESS_OR_EQUAL, 2), False),
        (Compares("team", Comparison.NOT_EQUALS, "staff"), False),
        (AllOf((Has("city", "Rome"), Has("years", 1))), False),
        (any_of([Has("city", "Oslo"), Has("years", 2025)]), True),
    ],
)
def test_value_listed_as_bare_text_must_match_by_another_filter_branch(
    choice: Filter, expected: bool
) -> None:
    found = {"team": "staff", "city": "Rome", "years": [2025, 2026], "flag": True}

    assert is_listed(any_of([choice, Lists("team", "staff")]), found) is expected
