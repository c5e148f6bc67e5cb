"""A filter held against the types of attributes: compared as meant, or refused with what can be."""

from typing import Any

import pytest

from stackroom.access.search_filter_argument import conditions, resolve_types
from stackroom.errors import ValidationError
from stackroom.model.attributes import known_types
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Conditions,
    Exists,
    Filter,
    Has,
    is_met,
)

DAY = 86_400
FIRST_OF_MARCH = 1772323200
TYPES = known_types(
    [
        frozenset({"year:number", "public:boolean", "signed:date", "dept:text", "tags:list"}),
        frozenset({"size:number", "size:text", "dept:text"}),
    ]
)
GTE, GT = Comparison.GREATER_OR_EQUAL, Comparison.GREATER
LTE, LT = Comparison.LESS_OR_EQUAL, Comparison.LESS


def read(asked: dict[str, Any]) -> Conditions:
    return resolve_types(conditions(asked), TYPES)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({"year": 2026}, Has("year", 2026)),
        ({"year": {"gte": 2025}}, Compares("year", GTE, 2025)),
        ({"year": {">=": 2025}}, Compares("year", GTE, 2025)),
        (
            {"year": {"gt": 2024, "lt": 2027}},
            AllOf((Compares("year", GT, 2024), Compares("year", LT, 2027))),
        ),
        (
            {"year": {"between": [2025, 2025]}},
            AllOf((Compares("year", GTE, 2025), Compares("year", LTE, 2025))),
        ),
        ({"year": {"gte": 2025, "lt": None, "in": None}}, Compares("year", GTE, 2025)),
        ({"year": {"in": [2025, 2026]}}, AnyOf((Has("year", 2025), Has("year", 2026)))),
        ({"year": {"exists": True}}, Exists("year", is_there=True)),
        ({"unknown": {"exists": False}}, Exists("unknown", is_there=False)),
        ({"public": True}, Has("public", True)),
        ({"dept": {"in": [">10"]}}, Has("dept", ">10")),
        ({"size": 3}, Has("size", 3)),
        ({"size": "3 rooms"}, Has("size", "3 rooms")),
        ({"folder": "/2026/contracts/"}, Has("folder", "2026/contracts")),
        ({"folder": ["Bu\u0308ro"]}, Has("folder", "B\u00fcro")),
        ({"unknown": {"lt": "2026-03-01"}}, Compares("unknown_ts", LT, FIRST_OF_MARCH)),
    ],
)
def test_filter_of_a_matching_type_is_compared_as_it_is_meant(
    asked: dict[str, Any], meant: Filter
) -> None:
    assert read(asked) == (meant,)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("2026-03-01T00:00:05Z", Has("signed_ts", FIRST_OF_MARCH + 5)),
        (
            "2026-03-01",
            AllOf(
                (
                    Compares("signed_ts", GTE, FIRST_OF_MARCH),
                    Compares("signed_ts", LT, FIRST_OF_MARCH + DAY),
                )
            ),
        ),
        ({"gte": "2026-03-01"}, Compares("signed_ts", GTE, FIRST_OF_MARCH)),
        ({"gt": "2026-03-01"}, Compares("signed_ts", GTE, FIRST_OF_MARCH + DAY)),
        ({"lte": "2026-03-01"}, Compares("signed_ts", LT, FIRST_OF_MARCH + DAY)),
    ],
)
def test_date_is_compared_in_seconds_and_a_day_is_all_of_it(asked: Any, meant: Filter) -> None:
    assert read({"signed": asked}) == (meant,)


@pytest.mark.parametrize("asked", ["2026-03-01", {"lte": "2026-03-01"}])
def test_day_of_an_upload_includes_uploads_at_any_time_of_it(asked: Any) -> None:
    [meant] = read({"uploaded_at": asked})

    assert is_met(meant, {"uploaded_ts": FIRST_OF_MARCH + DAY - 1})
    assert not is_met(meant, {"uploaded_ts": FIRST_OF_MARCH + DAY})


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"dept": {"gte": 2025}}, "'dept' is a text in your documents, which has no order"),
        ({"dept": {"gte": "a"}}, "'dept' is a text in your documents, which has no order"),
        ({"dept": ">=2025"}, "'dept' is a text in your documents, which has no order"),
        ({"dept": 2025}, '\'dept\' is a text in your documents. Allowed: {"dept": "..."}'),
        ({"year": ">=2025"}, "'year' is a number in your documents. Allowed: {\"year\": 2025}"),
        ({"year": {"between": [2025, "2026"]}}, "'year' is a number"),
        ({"year": {"between": [2026, 2025]}}, "'year' has bounds with nothing between them"),
        ({"signed": ["2026-03-01", "2026-03-02"]}, "'signed' is a date, of which one or a range"),
        ({"signed": {"between": ["2026-03-02", "2026-03-01"]}}, "has bounds with nothing between"),
        ({"folder": "/"}, "'folder' must name a folder"),
        ({"unknown": ">=2025"}, "'unknown' has a bound that is neither a number nor a date"),
    ],
)
def test_filter_that_no_type_can_match_is_refused_with_what_is_allowed(
    asked: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValidationError) as refusal:
        read(asked)

    assert problem in str(refusal.value)
