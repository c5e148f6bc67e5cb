"""`doctor` reports the state of an index's text search."""

import pytest

from stackroom.search.index_setup import Readiness
from stackroom_cli.health_checks import deployment_remedies, search_index
from stackroom_cli.sites.site import AwsSite


@pytest.mark.parametrize(
    ("readiness", "is_good", "told"),
    [
        (Readiness.ACTIVE, True, "its text search ACTIVE"),
        (Readiness.BUILDING, True, "until it is ACTIVE, searches use Retrieve"),
        (Readiness.MISSING, False, "--function-name docs-search-index /dev/stdout"),
        (None, False, "can't be read"),
    ],
)
def test_index_without_text_search_is_reported_with_what_to_do(
    site: AwsSite, readiness: Readiness | None, is_good: bool, told: str
) -> None:
    check = search_index("docs-1", readiness, "docs", deployment_remedies(site))

    assert check.good is is_good
    assert told in check.text
