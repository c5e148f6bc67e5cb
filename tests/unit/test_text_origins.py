"""Proof of a passage's owner where the store names our ingested text."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.access.identity import Caller
from stackroom.access.tenancy import (
    Leftovers,
    Member,
    Operator,
    Origin,
    Owners,
    Tenant,
    View,
    document_id_in,
)
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model.keys import TextName, catalog_id_of, document_id_of
from stackroom.model.passages import Passage
from stackroom.model.records import Catalog, DataSourceType
from stackroom.search.excerpts import sources_of
from stackroom.search.search import located
from tests.fakes.place_maps import FakePlaceMaps
from tests.support.records import a_catalog, a_document

SHARED, OWN, CRAWLED, MALLORYS = "DSSHARED01", "DSALICES01", "DSCRAWLED1", "DSMALLORYS"
TEXT_ID = "0f" * 16


def placed(
    user: str, name: str, source: str | None, kind: DataSourceType = DataSourceType.CUSTOM
) -> Catalog:
    """Its prefix is the folder that was dropped, and not its id."""
    return a_catalog(
        user_id=user,
        catalog_id=catalog_id_of(user, name),
        name=name,
        s3_prefix=f"{user}/{name}/",
        knowledge_base_id="KB1",
        data_source_id=source,
        data_source_type=kind,
    )


HERS, SECOND = placed("alice", "research", SHARED), placed("alice", "second", OWN)
UNPLACED = placed("alice", "unplaced", None)
BY_JOBS = placed("alice", "crawled", CRAWLED, DataSourceType.S3)
MALLORY = placed("mallory", "research", MALLORYS)
GONE = placed("alice", "gone", SHARED)
CATALOGS = {each.catalog_id: each for each in (HERS, SECOND, UNPLACED, BY_JOBS, MALLORY)}
PLAN = document_id_of(HERS.catalog_id, "plan.pdf")
OTHER = document_id_of(HERS.catalog_id, "other.pdf")


def text_uri(catalog: Catalog = HERS, document_id: str | None = None, **more: str) -> str:
    """The URI of a text of the catalog's plan.pdf; `more` are other parts of its name."""
    parts = {
        "user_id": catalog.user_id,
        "catalog_id": catalog.catalog_id,
        "document_id": document_id or document_id_of(catalog.catalog_id, "plan.pdf"),
        "text_id": TEXT_ID,
    }
    return f"s3://docs/{TextName(**{**parts, **more}).key}"


def a_passage(catalog: Catalog = HERS, **told: Any) -> Passage:
    """
    Return a passage of the catalog's plan.pdf, as our function ingests it, with its text's name.
    """
    passage = Passage(
        text="the plan",
        score=1,
        uri=text_uri(catalog),
        data_source_id=catalog.data_source_id,
        attributes={
            "user_id": catalog.user_id,
            "catalog_id": catalog.catalog_id,
            "document_id": document_id_of(catalog.catalog_id, "plan.pdf"),
            "filename": "plan.pdf",
            "allowed_groups": ["keepers"],
        },
    )
    return replace(passage, **told)


def with_attributes(passage: Passage, **attributes: object) -> Passage:
    return replace(passage, attributes={**passage.attributes, **attributes})


def views(catalog: Catalog = HERS) -> list[View]:
    """All by which a passage may be alice's, and by which anything is a catalog's."""
    [member] = Member.of(Caller("bob", ("keepers",)))
    return [Tenant("alice"), Tenant.of(catalog), member, Leftovers.of(catalog)]


def is_shown(passage: Passage, view: View) -> bool:
    try:
        return view.proven([passage], catalog_of=CATALOGS.get) == (passage,)
    except KnowledgeBaseUnavailable:  # it is outside the filter
        return False


PROVEN = {
    "in the shared data source": a_passage(),
    "in a data source of its catalog's own": a_passage(SECOND),
    "without a data source": a_passage(data_source_id=None),
    "before a data source is recorded": a_passage(UNPLACED),
    "in a data source that isn't recorded yet": a_passage(UNPLACED, data_source_id=SHARED),
    "with its id": a_passage(custom_id=PLAN),
    "with its id and without a data source": a_passage(custom_id=PLAN, data_source_id=None),
    "another text of the document": a_passage(uri=text_uri(text_id="0" * 64)),
}


@pytest.mark.parametrize("passage", PROVEN.values(), ids=PROVEN)
def test_uri_of_a_text_proves_owner_catalog_and_document(passage: Passage) -> None:
    catalog = CATALOGS[str(passage.attributes["catalog_id"])]
    document_id = document_id_of(catalog.catalog_id, "plan.pdf")
    record = a_document(catalog_id=catalog.catalog_id, document_id=document_id)

    shown = [is_shown(passage, view) for view in views(catalog)]

    assert shown == [True] * 4
    assert Owners.of([(catalog, record)]).proven([passage]) == [(catalog.catalog_id, passage)]
    assert document_id_in(passage) == document_id
    assert Operator().origin_of(document_id, [passage]) == Origin(catalog.catalog_id, "plan.pdf")


@pytest.mark.parametrize("told", [{}, {"data_source_id": None}, {"custom_id": PLAN}], ids=str)
def test_uploaded_object_under_the_catalogs_prefix_is_proof_as_before(told: dict[str, Any]) -> None:
    passage = a_passage(uri="s3://docs/alice/research/plan.pdf", **told)

    assert [is_shown(passage, view) for view in views()] == [True] * 4


UNDER = f"s3://docs/_text/alice/{HERS.catalog_id}/{PLAN}"
UNPROVEN = {
    "another user's text": a_passage(uri=text_uri(MALLORY)),
    "a text of another user in her catalog": a_passage(uri=text_uri(user_id="mallory")),
    "a text in another catalog of hers": a_passage(uri=text_uri(SECOND)),
    "her document's text in another user's catalog": a_passage(
        uri=text_uri(catalog_id=MALLORY.catalog_id)
    ),
    "another document's text": a_passage(uri=text_uri(document_id=OTHER)),
    "another document's text with its id": a_passage(
        uri=text_uri(document_id=OTHER), custom_id=OTHER
    ),
    "another document's text with its id said, too": with_attributes(
        a_passage(uri=text_uri(document_id=OTHER), custom_id=OTHER), document_id=OTHER
    ),
    "another document's text and the right id": a_passage(
        uri=text_uri(document_id=OTHER), custom_id=PLAN
    ),
    "the right text and another document's id": a_passage(custom_id=OTHER),
    "the right text and an id of nothing": a_passage(custom_id="doc-x"),
    "the right text and an empty id": a_passage(custom_id=""),
    "another file's name": with_attributes(a_passage(), filename="other.pdf"),
    "another document's id in its attributes": with_attributes(a_passage(), document_id=OTHER),
    "no document's id in its attributes": with_attributes(a_passage(), document_id=None),
    "an id in a list": with_attributes(a_passage(), document_id=[PLAN]),
    "another catalog in its attributes": with_attributes(a_passage(), catalog_id=SECOND.catalog_id),
    "another user's catalog in its attributes": with_attributes(
        a_passage(), catalog_id=MALLORY.catalog_id
    ),
    "another user's text that says it is hers": with_attributes(
        a_passage(MALLORY, data_source_id=SHARED), user_id="alice"
    ),
    "a text of a catalog that is gone": a_passage(GONE),
    "a text that another's data source has": a_passage(data_source_id=MALLORYS),
    "a text that another data source of hers has": a_passage(data_source_id=OWN),
    "a text that an ingestion job has found": a_passage(BY_JOBS),
    "the folder of its texts": a_passage(uri=f"{UNDER}/"),
    "its places": a_passage(uri=f"{UNDER}/{TEXT_ID}.places.json.gz"),
    "a text without a document": a_passage(uri=f"s3://docs/_text/alice/{HERS.catalog_id}/a.md"),
    "a text too deep": a_passage(uri=f"{UNDER}/more/{TEXT_ID}.md"),
    "a text id that is none": a_passage(uri=f"{UNDER}/plan.md"),
    "a way up from her folder": a_passage(
        uri=f"s3://docs/_text/alice/../mallory/{HERS.catalog_id}/{PLAN}/{TEXT_ID}.md"
    ),
    "a way up to her folder": a_passage(
        uri=f"s3://docs/_text/mallory/../alice/{HERS.catalog_id}/{PLAN}/{TEXT_ID}.md"
    ),
    "a way up to her files": a_passage(uri="s3://docs/_text/../alice/research/plan.pdf"),
    "a file under the folder of texts": a_passage(uri="s3://docs/_text/alice/research/plan.pdf"),
    "a malformed text beside the right id": a_passage(uri=f"{UNDER}/plan.md", custom_id=PLAN),
    "a text that lies elsewhere": a_passage(
        uri=f"s3://docs/mallory/research/{text_uri().removeprefix('s3://docs/')}"
    ),
    "an object in the root of texts": a_passage(uri="s3://docs/_text/"),
}


@pytest.mark.parametrize("passage", UNPROVEN.values(), ids=UNPROVEN)
def test_uri_of_a_text_that_contradicts_proves_nothing(
    passage: Passage, caplog: pytest.LogCaptureFixture
) -> None:
    asked = [*views(), Leftovers.of(MALLORY), Leftovers.of(BY_JOBS)]

    shown = [is_shown(passage, view) for view in asked]

    assert not any(shown)
    assert "passages kept from 'alice'" in caplog.text or passage.attributes["user_id"] != "alice"


@given(
    owner=st.sampled_from(["alice", "mallory", "bob"]),
    folder=st.sampled_from([each.catalog_id for each in (*CATALOGS.values(), GONE)]),
    document_id=st.sampled_from([PLAN, OTHER, document_id_of(MALLORY.catalog_id, "plan.pdf")]),
    custom_id=st.sampled_from([None, PLAN, OTHER]),
    source=st.sampled_from([None, SHARED, OWN, CRAWLED, MALLORYS]),
    said=st.sampled_from([each.catalog_id for each in (*CATALOGS.values(), GONE)]),
)
def test_passage_is_shown_only_if_its_text_is_the_attributes_own(
    *,
    owner: str,
    folder: str,
    document_id: str,
    custom_id: str | None,
    source: str | None,
    said: str,
) -> None:
    uri = text_uri(user_id=owner, catalog_id=folder, document_id=document_id)
    told = a_passage(uri=uri, custom_id=custom_id, data_source_id=source)
    passage = with_attributes(told, catalog_id=said, document_id=document_id)

    shown = [is_shown(passage, view) for view in views()]

    hers = ("alice", HERS.catalog_id, HERS.catalog_id, PLAN)
    agrees = custom_id in (None, PLAN) and source in (None, SHARED)
    assert shown == [(owner, folder, said, document_id) == hers and agrees] * 4


def test_text_of_a_rejected_file_belongs_to_nobody() -> None:
    passage = with_attributes(a_passage(), user_id="!rejected")

    assert [is_shown(passage, view) for view in views()] == [False, False, False, True]


def test_passage_of_a_text_is_cited_by_the_uploaded_object() -> None:
    [hers, unknown] = located(
        [a_passage(), a_passage(GONE)],
        catalog_of=CATALOGS.get,
        uri_of=lambda key: f"s3://docs/{key}",
    )

    assert hers.uri == "s3://docs/alice/research/plan.pdf"
    [cited] = sources_of([unknown], FakePlaceMaps())
    assert (cited.uri, cited.filename) == (None, "plan.pdf")


def test_text_is_no_source_that_anybody_is_shown() -> None:
    nameless = replace(a_passage(), attributes={}, custom_id="doc-x")

    sources = sources_of([a_passage(), nameless], FakePlaceMaps())

    assert [(each.uri, each.filename) for each in sources] == [(None, "plan.pdf"), (None, "doc-x")]
