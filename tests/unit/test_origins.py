"""Whose a passage is, by as much of its source as the store tells: never by less than proves it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.identity import Caller
from stackroom.keys import document_id_of
from stackroom.model import Catalog, DataSourceType
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import Leftovers, Member, Tenant, View

SHARED, OWN, CRAWLED, MALLORYS = "DSSHARED01", "DSALICES01", "DSCRAWLED1", "DSMALLORYS"
NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


def a_catalog(
    catalog_id: str, user: str, source: str | None, kind: DataSourceType = DataSourceType.CUSTOM
) -> Catalog:
    return Catalog(
        catalog_id=catalog_id,
        user_id=user,
        name=catalog_id,
        s3_prefix=f"{user}/{catalog_id}/",
        knowledge_base_id="KB1",
        data_source_id=source,
        data_source_type=kind,
        created_at=NOW,
        updated_at=NOW,
    )


CATALOGS = {
    each.catalog_id: each
    for each in (
        a_catalog("cat-shared", "alice", SHARED),
        a_catalog("cat-own", "alice", OWN),
        a_catalog("cat-crawled", "alice", CRAWLED, DataSourceType.S3),
        a_catalog("cat-unplaced", "alice", None),
        a_catalog("cat-bob", "bob", SHARED),
        a_catalog("cat-mallory", "mallory", MALLORYS),
    )
}


def a_passage(catalog_id: str = "cat-shared", source: str | None = SHARED, **told: Any) -> Passage:
    """As our function ingests it, of which the store tells the data source and no more."""
    attributes = {
        "user_id": "alice",
        "catalog_id": catalog_id,
        "document_id": document_id_of(catalog_id, "plan.txt"),
        "filename": "plan.txt",
        "allowed_groups": ["keepers"],
    }
    return replace(Passage(text="", score=1, data_source_id=source, attributes=attributes), **told)


def saying(passage: Passage, **attributes: object) -> Passage:
    return replace(passage, attributes={**passage.attributes, **attributes})


def views(catalog_id: str) -> list[View]:
    """All by which a passage may be alice's."""
    [member] = Member.of(Caller("bob", ("keepers",)))
    return [Tenant("alice"), Tenant.of(CATALOGS[catalog_id]), member]


def is_shown(passage: Passage, view: View) -> bool:
    try:
        return view.proven([passage], catalog_of=CATALOGS.get) == (passage,)
    except KnowledgeBaseUnavailable:  # it is outside the filter
        return False


@pytest.mark.parametrize(("catalog_id", "source"), [("cat-shared", SHARED), ("cat-own", OWN)])
def test_the_data_source_that_the_record_names_and_our_own_id_prove_a_passage(
    catalog_id: str, source: str
) -> None:
    passage = a_passage(catalog_id, source)

    shown = [is_shown(passage, view) for view in views(catalog_id)]

    assert shown == [True, True, True]
    assert is_shown(passage, Leftovers.of(CATALOGS[catalog_id]))


DOCUMENT = document_id_of("cat-shared", "plan.txt")
URI = "s3://docs/alice/cat-shared/plan.txt"


@pytest.mark.parametrize(
    "told",
    [
        {"custom_id": DOCUMENT},
        {"custom_id": DOCUMENT, "data_source_id": None},
        {"custom_id": DOCUMENT, "uri": URI},
        {"uri": URI},
        {"uri": URI, "data_source_id": None},
    ],
    ids=str,
)
def test_a_source_that_is_told_proves_by_itself(told: dict[str, Any]) -> None:
    passage = a_passage(**told)

    assert all(is_shown(passage, view) for view in views("cat-shared"))
    assert is_shown(passage, Leftovers.of(CATALOGS["cat-shared"]))


UNPROVEN = {
    "no source at all": a_passage(source=None),
    "the data source of another's catalog": a_passage(source=MALLORYS),
    "the data source of another of hers": a_passage(source=OWN),
    "a data source that is no catalog's": a_passage(source="DSSTRANGER"),
    "a data source by another spelling": a_passage(source=SHARED.lower()),
    "crawled, and its object isn't told": a_passage("cat-crawled", CRAWLED),
    "of a catalog that was never placed": a_passage("cat-unplaced", None),
    "of a catalog that is gone": a_passage("cat-gone"),
    "of another's catalog": a_passage("cat-bob"),
    "of another's catalog, by the data source": saying(
        a_passage("cat-mallory", MALLORYS), catalog_id="cat-shared", document_id=DOCUMENT
    ),
    "the id of another file": saying(
        a_passage(), document_id=document_id_of("cat-shared", "other.txt")
    ),
    "the id of another catalog's file": saying(
        a_passage(), document_id=document_id_of("cat-bob", "plan.txt")
    ),
    "another file's name": saying(a_passage(), filename="other.txt"),
    "another catalog of hers": saying(a_passage(), catalog_id="cat-own"),
    "an id in a list": saying(a_passage(), document_id=[DOCUMENT]),
    "the right id, and another's data source": a_passage(source=MALLORYS, custom_id=DOCUMENT),
    "the right id, and another data source of hers": a_passage(source=OWN, custom_id=DOCUMENT),
    "another id that is told": a_passage(custom_id=document_id_of("cat-bob", "plan.txt")),
    "another's object beside the right id": a_passage(
        custom_id=DOCUMENT, uri="s3://docs/mallory/cat-m/plan.txt"
    ),
    "another id beside the right object": a_passage(custom_id="doc-x", uri=URI),
}


@pytest.mark.parametrize("passage", UNPROVEN.values(), ids=UNPROVEN)
def test_what_proves_less_is_kept_from_everybody(passage: Passage) -> None:
    shown = [is_shown(passage, view) for view in views("cat-shared")]

    assert shown == [False, False, False]
    assert not is_shown(passage, Leftovers.of(CATALOGS["cat-shared"]))


@given(
    source=st.sampled_from([SHARED, OWN, CRAWLED, MALLORYS, None]),
    catalog_id=st.sampled_from([*CATALOGS, "cat-gone"]),
    named=st.sampled_from([*CATALOGS, "cat-gone"]),
    filename=st.sampled_from(["plan.txt", "other.txt"]),
)
def test_whatever_a_foreign_document_says_of_itself_it_is_not_hers(
    source: str | None, catalog_id: str, named: str, filename: str
) -> None:
    """A sidecar may say anything; the object, or the data source, is another's all the same."""
    said = saying(
        a_passage(catalog_id, source),
        document_id=document_id_of(named, filename),
        filename=filename,
    )
    crawled = replace(said, uri="s3://docs/mallory/cat-mallory/own.txt")
    ingested = replace(said, data_source_id=MALLORYS)

    shown = [is_shown(each, view) for each in (crawled, ingested) for view in views("cat-shared")]

    assert shown == [False] * 6
