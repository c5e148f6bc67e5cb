"""Who is at work in a knowledge base, and who waits for it, in words that its user knows."""

from datetime import UTC, datetime
from io import StringIO
from types import SimpleNamespace
from typing import cast

from stackroom.model import PoolMember
from stackroom.ports.admission import Grant, Ledger, Mode, Waiter
from stackroom.runs.worklists import shared_worklist
from stackroom_local.cli.console import Console
from stackroom_local.cli.pooling import overview
from stackroom_local.product import Product
from tests.fakes.admission import FakeAdmissionBook
from tests.records import a_catalog

NOW = datetime.now(UTC)


def told(book: FakeAdmissionBook) -> str:
    """Of one knowledge base, and a catalog of ada's."""
    slots = SimpleNamespace(holders=lambda _: (), taken=lambda _: 0)
    member = PoolMember(knowledge_base_id="KB1", data_source_id="DS1")
    product = SimpleNamespace(
        stores=SimpleNamespace(admission_book=book, slots=slots),
        use_cases=SimpleNamespace(deployment=SimpleNamespace(pool=[member])),
    )
    catalog = a_catalog(user_id="ada")
    out = StringIO()
    Console(file=out, width=200).print(overview(cast("Product", product), [catalog]))
    return out.getvalue()


def a_grant(worklist_id: str, mode: Mode) -> Grant:
    return Grant(
        worklist_id=worklist_id,
        epoch=1,
        knowledge_base_id="KB1",
        mode=mode,
        slots=2,
        granted_at=NOW,
        until=NOW,
    )


def test_the_run_of_all_who_share_is_named_by_what_they_share() -> None:
    shared = shared_worklist("KB1")
    book = FakeAdmissionBook(
        ledger=Ledger(grants=(a_grant(shared, Mode.SHARED), a_grant("cat-ada-1", Mode.EXCLUSIVE)))
    )
    book.enqueue(
        Waiter(
            worklist_id=shared,
            epoch=1,
            knowledge_base_id="KB1",
            mode=Mode.SHARED,
            since=NOW,
            calls=3,
            token="t",
        )
    )

    printed = told(book)

    assert "the shared data source: 2 direct calls, for " in printed
    assert "ada/Research 1: a job, for " in printed
    assert "1 for direct calls, the oldest the shared data source for " in printed
    assert shared not in printed
