"""The index of a local mode, made for search by words by the function that does it on AWS."""

from collections.abc import Iterator

import pytest

from stackroom_local.state import Instance
from tests.local.mishaps import (
    SEARCH_INDEX_FUNCTION,
    TEXT,
    by_hand,
    forget_text_search,
    index_of,
)
from tests.local.running import local_mode, stackroom


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    # Slow enough for what is built of an index that holds something to be seen being built.
    state = tmp_path_factory.mktemp("search-index") / "state"
    with local_mode(state, "--speed", "5") as running:
        yield running


def searched_by(instance: Instance) -> dict[str, str]:
    """The languages by key."""
    metadata = index_of(instance)["metadataConfiguration"]
    configured = metadata.get("textSearchConfigurations", [])
    assert all(each["status"] in ("ACTIVE", "BUILDING") for each in configured)
    return {each["metadataKey"]: each.get("language", "none") for each in configured}


def test_a_fresh_start_has_an_index_that_is_searched_by_words(instance: Instance) -> None:
    made = index_of(instance)

    assert made["indexMode"] == "ENHANCED"
    assert searched_by(instance) == {TEXT: "en"}


def test_doctor_tells_of_an_index_without_it_and_its_command_mends_it(instance: Instance) -> None:
    well = stackroom("doctor", state_dir=instance.state_dir)
    forget_text_search(instance)

    ill = stackroom("doctor", state_dir=instance.state_dir)
    mended = by_hand(instance)
    again = stackroom("doctor", state_dir=instance.state_dir)

    assert "index stackroom-1 is ENHANCED and its text search ACTIVE" in words(well.stdout)
    assert (well.returncode, ill.returncode, again.returncode) == (0, 1, 0)
    assert "index stackroom-1 has no text search, so searches use Retrieve" in words(ill.stdout)
    assert f"aws lambda invoke --function-name {SEARCH_INDEX_FUNCTION} /dev/stdout" in words(
        ill.stdout
    )
    assert list(mended.values()) == [{"text_search": "active", "language": "en"}]


def words(text: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return " ".join(text.split())
