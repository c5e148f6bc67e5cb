"""A local cloud that is deployed with a parser that sees: a scan becomes searchable."""

from collections.abc import Iterator

import pytest

from stackroom.model import DocumentStatus
from stackroom_local.state import Instance
from tests import files
from tests.e2e.people import Person
from tests.local.running import ANY_SCORE, local_mode

pytestmark = pytest.mark.processes

NIMBUS = "Warehouse Nimbus keeps 4,812 crates of saffron behind its northern gate."


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """One of this module's own."""
    chosen = ("-c", "parsing=foundation_model", "-c", "parsing_model=anthropic.claude-haiku-4-5")
    state_dir = tmp_path_factory.mktemp("seeing") / "state"
    with local_mode(state_dir, *chosen, *ANY_SCORE) as running:
        yield running


def test_a_scanned_pdf_that_is_dropped_becomes_searchable(instance: Instance) -> None:
    ada = Person(instance, "ada")

    ada.settle([ada.put("stores/scan.pdf", files.scanned_pdf(NIMBUS, read=["It is cold."]))])

    record = ada.record("stores/scan.pdf")
    assert record is not None
    assert (record.status, record.status_reason) == (DocumentStatus.INDEXED, None)
    seen, read = ada.find("How many crates of saffron are in the warehouse?")
    assert seen["content"] == NIMBUS
    assert (seen["source"]["filename"], seen["source"]["page"]) == ("scan.pdf", None)
    assert (read["content"], read["source"]["page"]) == ("It is cold.", 2)
