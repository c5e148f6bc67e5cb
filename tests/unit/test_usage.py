"""Usage of ingestion: what Bedrock accepted, and whose it was."""

from decimal import Decimal

import pytest

from stackroom.catalogs.metering import USERS, Metering
from stackroom.model.caps import Caps
from stackroom.model.usage import NO_CATALOG, Used
from stackroom.tools.usage_definitions import GET_USAGE
from tests.fakes.usage import FakeUsage
from tests.support.records import NOW
from tests.unit.pipeline import KEY, Pipeline, place_of

BOB = "bob/own/b.txt"


@pytest.fixture(params=["own", "shared", "by jobs"])
def pipeline(request: pytest.FixtureRequest) -> Pipeline:
    return Pipeline(shared=request.param == "shared", by_jobs=request.param == "by jobs")


def used(pipeline: Pipeline) -> dict[str, Used]:
    return {catalog_id: each for (_, _, catalog_id, _), each in pipeline.usage.kept.items()}


def test_each_ingestion_is_counted_for_its_user_and_catalog(pipeline: Pipeline) -> None:
    pipeline.drop(KEY.replace("pdf", "txt"), "x" * 400)
    pipeline.index(KEY.replace("pdf", "txt"))
    pipeline.drop(KEY.replace("pdf", "txt"), "y" * 400)
    pipeline.index(KEY.replace("pdf", "txt"))
    pipeline.drop(BOB, "z" * 40)
    pipeline.index(BOB)

    assert {(user, catalog) for _, user, catalog, _ in pipeline.usage.kept} == {
        ("alice", place_of(KEY).catalog_id),
        ("bob", place_of(BOB).catalog_id),
    }
    assert used(pipeline) == {
        place_of(KEY).catalog_id: Used(documents=2, bytes=800, passages=2, embedded_tokens=200),
        place_of(BOB).catalog_id: Used(documents=1, bytes=40, passages=1, embedded_tokens=10),
    }


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("", 1 + 0.02),
        ("global.amazon.nova-2-lite-v1:0", 1.02 + 0.30 + 2.50),
        ("arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-micro-v1:0", 1.02 + 0.175),
        ("somebody.else-v9:0", 1.02 + 3 + 15),
    ],
)
def test_dollars_are_tokens_by_the_price_list(model: str, dollars: float) -> None:
    million = 1_000_000 if model else 0
    used = Used(
        embedded_tokens=50_000_000,
        question_tokens=1_000_000,
        model_input_tokens=million,
        model_output_tokens=million,
    )

    assert used.dollars(model) == pytest.approx(dollars)


def test_usage_shows_present_documents_and_the_months_consumption() -> None:
    pipeline = Pipeline()
    pipeline.cap_book.keep("alice", Caps(documents=2, dollars=Decimal(20)))
    for name in "abc":
        pipeline.drop(f"alice/research/{name}.txt", "x" * 400)
    run = pipeline.work(place_of(KEY).catalog_id)
    pipeline.go_on(run)
    said = Used(questions=1, question_tokens=10, model_input_tokens=1000, model_output_tokens=100)
    pipeline.usage.add("alice", NO_CATALOG, said, at=NOW, model="amazon.nova-2-lite-v1:0")
    pipeline.usage.add("alice", "cat-gone", Used(documents=1, embedded_tokens=5), at=NOW)
    pipeline.usage.add("bob", "cat-bob", Used(questions=1), at=NOW)
    metering = Metering(
        usage=pipeline.usage, book=pipeline.cap_book, catalogs=pipeline.catalogs, now=pipeline.clock
    )

    [alice, bob] = metering.page().users

    assert alice == metering.of_user("alice") == metering.of_user("alice", "2026-02")
    assert [each.catalog_id for each in alice.catalogs] == [
        place_of(KEY).catalog_id,
        "cat-gone",
        NO_CATALOG,
    ]
    assert (alice.in_use.documents, alice.in_use.size, alice.waiting) == (2, 800, 1)
    assert alice.used.embedded_tokens == 205
    assert alice.dollars == pytest.approx(215 * 0.02e-6 + 1000 * 0.30e-6 + 100 * 2.50e-6)
    assert (bob.user_id, bob.in_use.documents, bob.caps) == ("bob", 0, Caps())
    assert metering.page(after="alice").users == (bob,)
    assert metering.of_user("alice", "2026-03").dollars == 0
    told = GET_USAGE.render(alice)
    assert "documents: 2 of at most 2" in told.text
    assert "of at most $20.00 a month, which begin anew on 1 March" in told.text
    assert told.metadata["caps"] == {"documents": 2, "bytes": None, "dollars": 20.0}


def test_usage_of_users_is_listed_in_pages() -> None:
    usage = FakeUsage()
    for number in range(USERS + 1):
        usage.add(f"user{number:03}", NO_CATALOG, Used(questions=1), at=NOW)
    pipeline = Pipeline()
    metering = Metering(
        usage=usage, book=pipeline.cap_book, catalogs=pipeline.catalogs, now=pipeline.clock
    )

    first = metering.page()
    rest = metering.page(after=first.next)

    assert (len(first.users), first.next) == (USERS, "user049")
    assert ([each.user_id for each in rest.users], rest.next) == (["user050"], None)
