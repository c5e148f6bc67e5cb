"""Filters that people ask for: numbers and dates in ranges, truth values and folders."""

from typing import Any

import pytest

from stackroom_local.state import Instance
from tests.e2e.people import Person

AMOUNTS = {2022: 99, 2023: 100, 2024: 101, 2025: 1000, 2026: 5000}
QUESTION = "crane contract"


@pytest.fixture(scope="module")
def clerk(instance: Instance) -> Person:
    """A user with five contracts whose year and amount are numbers."""
    clerk = Person(instance, "clerk")
    dropped = []
    for year, amount in AMOUNTS.items():
        text = f"The crane contract of {year} is about {amount} euros."
        typed = {
            "kb-number-year": str(year),
            "kb-number-amount": str(amount),
            "kb-bool-open": str(year > 2024).lower(),
            "kb-date-signed": f"{year}-03-01",
        }
        dropped.append(clerk.put(f"typed/{year}/contracts/c{year}.txt", text, typed))
    clerk.settle(dropped)
    return clerk


def years(clerk: Person, **asked: Any) -> list[int]:
    found = clerk.find(QUESTION, filter=asked, catalog_id=clerk.catalog("typed").catalog_id)
    return sorted(int(each["source"]["filename"][:4]) for each in found)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"year": {"gte": 2025}}, [2025, 2026]),
        ({"folder": "2026/contracts"}, [2026]),
        ({"open": True}, [2025, 2026]),
        ({"amount": {"between": [100, 1000]}}, [2023, 2024, 2025]),
        ({"signed": "2024-03-01", "year": {"lt": 2025}}, [2024]),
        ({"note": {"exists": False}, "year": {"lte": 2022}}, [2022]),
    ],
)
def test_typed_filter_finds_just_the_documents_it_means(
    clerk: Person, asked: dict[str, Any], found: list[int]
) -> None:
    assert years(clerk, **asked) == found
