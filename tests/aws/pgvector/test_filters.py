"""Filters as PostgreSQL evaluates them."""

import math

import pytest

from stackroom.errors import SearchRefused
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Filter,
    Has,
    Lists,
    Scalar,
)
from stackroom_stores.pgvector.pgvector_filters import rendered
from tests.aws.pgvector.conftest import EAST, Database

SHELF: dict[str, dict[str, object]] = {
    "rome": {"city": "Rome", "year": 2025, "tags": ["hr", "law"], "draft": True},
    "oslo": {"city": "Oslo", "year": 2026.5, "tags": ["hr"], "scores": [1, 5]},
    "bare": {"tags": "hr", "year": "2026"},
    "none": {},
}


def compares(key: str, comparison: Comparison, value: Scalar | tuple[Scalar, ...]) -> Compares:
    return Compares(key, comparison, value)


@pytest.fixture
def filled(database: Database) -> Database:
    for name, attributes in SHELF.items():
        database.put(name, attributes=attributes)
    return database


# What no other store can be asked (tests/contract/stores/test_filters.py has what all can).
CASES: list[tuple[Filter, set[str]]] = [
    (Has("scores", 5), {"oslo"}),
    (AllOf(()), set(SHELF)),
    (AnyOf(()), set()),
    (compares("scores", Comparison.GREATER, 4), {"oslo"}),
    (compares("city", Comparison.IN, ("Oslo", "Rome", 3)), {"oslo", "rome"}),
    (compares("city", Comparison.IN, ()), set()),
    (compares("city", Comparison.NOT_IN, ()), set(SHELF)),
    (compares("year", Comparison.STARTS_WITH, "20"), {"bare"}),
    (compares("unknown", Comparison.STRING_CONTAINS, ""), set()),
]


@pytest.mark.processes
def test_filter_finds_exactly_the_matching_passages(filled: Database) -> None:
    for condition, expected in CASES:
        found = filled.repository.search_similar("handbook", EAST, 10, condition=condition)

        assert {each.content for each in found} == expected, condition


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (Has("city", "Ro\x00me"), "a null character"),
        (Has("city", "\ud800"), "no Unicode"),
        (Has("year", math.inf), "not finite"),
        (compares("year", Comparison.LESS, True), "lessThan of what is no number"),
        (compares("city", Comparison.STARTS_WITH, 3), "startsWith of what is no text"),
    ],
)
def test_filter_that_sql_cannot_express_is_refused(condition: Filter, why: str) -> None:
    with pytest.raises(SearchRefused, match=why):
        rendered(condition)


def test_statement_contains_no_key_or_value() -> None:
    condition = AllOf(
        (
            Has("a key", "a value"),
            Lists("another key", "another value"),
            compares("third key", Comparison.STRING_CONTAINS, "third value"),
            compares("fourth key", Comparison.GREATER, 4711),
            compares("fifth key", Comparison.NOT_IN, ("fifth value",)),
            Has("owner", "sixth value"),
        )
    )

    statement = rendered(condition, owner_key="owner").sql.as_string(None)

    assert not any(word in statement for word in ("key", "value", "4711", "owner"))
