"""The sentence about documents of which no search finds the newest version."""

from typing import Any

import pytest

from stackroom.model.catalog_counts import not_searched
from stackroom.model.records import CatalogStatus
from tests.support.records import a_catalog

NEW = "what is new in them was not searched."


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"document_count": 3}, ""),
        ({"document_count": 3, "failed_count": 1}, f"1 of 3 documents could not be indexed; {NEW}"),
        (
            {"document_count": 3, "failed_count": 1, "waiting_count": 1},
            "1 of 3 documents is still being indexed and 1 of 3 documents could not be indexed; "
            + NEW,
        ),
        (
            {"document_count": 19, "waiting_count": 16},
            f"16 of 19 documents are still being indexed; {NEW}",
        ),
        (
            {"document_count": 1, "waiting_count": 1},
            f"1 of 1 document is still being indexed; {NEW}",
        ),
        ({"document_count": 3, "over_count": 1}, f"1 of 3 documents waits for a cap; {NEW}"),
        (
            {"document_count": 5, "waiting_count": 1, "over_count": 2},
            "1 of 5 documents is still being indexed and 2 of 5 documents wait for a cap; " + NEW,
        ),
        ({"document_count": 3, "waiting_count": 3, "status": CatalogStatus.DELETING}, ""),
    ],
)
def test_sentence_counts_only_what_a_search_can_miss(counts: dict[str, Any], said: str) -> None:
    assert not_searched([a_catalog(**counts)]) == said


def test_sentence_adds_the_catalogs_that_are_searched() -> None:
    settled = a_catalog(document_count=2)
    indexing = a_catalog(document_count=1, waiting_count=1)

    assert not_searched([settled, indexing]).startswith("1 of 3 documents is still being indexed;")
