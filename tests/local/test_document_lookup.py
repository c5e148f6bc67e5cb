"""Names on the command line, and suggestions after a mistake."""

import pytest

from stackroom.errors import ValidationError
from stackroom.model.keys import catalog_id_of, is_unplaced
from stackroom_cli.document_lookup import DocumentLookup
from tests.unit.pipeline import KEY, Pipeline

OTHER = "alice/research/2026/Q1 (final).pdf"


@pytest.fixture
def pipeline() -> Pipeline:
    filled = Pipeline()
    filled.drop(KEY)
    filled.drop(OTHER)
    return filled


@pytest.fixture
def choosing(pipeline: Pipeline) -> DocumentLookup:
    return DocumentLookup(catalogs=pipeline.catalogs, documents=pipeline.documents, bucket="docs")


@pytest.mark.parametrize(("target", "user"), [(KEY, None), (f"s3://docs/{KEY}", "alice")])
def test_a_document_is_chosen_by_its_key(
    choosing: DocumentLookup, target: str, user: str | None
) -> None:
    (document,) = choosing.chosen([target], user=user, catalog=None)

    assert document.s3_key == KEY


@pytest.mark.parametrize(
    ("catalog", "target"),
    [
        ("research", OTHER),
        ("Research", "2026/Q1 (final).pdf"),
        (catalog_id_of("alice", "research"), f"s3://docs/{OTHER}"),
    ],
)
def test_a_document_is_chosen_by_its_file_in_a_catalog(
    choosing: DocumentLookup, catalog: str, target: str
) -> None:
    (document,) = choosing.chosen([target], user="alice", catalog=catalog)

    assert document.s3_key == OTHER


def test_a_renamed_catalog_is_found_by_either_name(
    pipeline: Pipeline, choosing: DocumentLookup
) -> None:
    catalog_id = catalog_id_of("alice", "research")
    pipeline.catalogs.describe(catalog_id, name="Ocean", description="", at=pipeline.clock())

    for name in ("ocean", "Research"):
        assert choosing.catalog("alice", name).catalog_id == catalog_id


@pytest.mark.parametrize(
    ("target", "user", "catalog", "problem"),
    [
        ("report.pdf", None, "research", "--catalog 'research' requires --user"),
        ("s3://other/a.txt", None, None, "'s3://other/a.txt' is not in this bucket, s3://docs/"),
        ("reprot.pdf", "alice", "research", f"did you mean '{KEY}'"),
        ("alice/law/a.txt", None, None, "see: stackroom status"),
    ],
)
def test_missing_document_is_reported_with_the_nearest_one(
    choosing: DocumentLookup, target: str, user: str | None, catalog: str | None, problem: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        choosing.chosen([target], user=user, catalog=catalog)

    assert problem in str(raised.value)


@pytest.mark.parametrize("key", ["alice/Research/x.txt", "stray.txt"])
def test_a_file_that_belongs_to_no_catalog_is_chosen_by_its_key(
    pipeline: Pipeline, choosing: DocumentLookup, key: str
) -> None:
    pipeline.drop(key)

    (document,) = choosing.chosen([key], user=None, catalog=None)

    assert document.s3_key == key
    assert is_unplaced(document.catalog_id)


def test_foreign_catalog_is_not_found_by_its_id(choosing: DocumentLookup) -> None:
    with pytest.raises(ValidationError, match="'bob' has no catalog"):
        choosing.catalog("bob", catalog_id_of("alice", "research"))


def test_document_is_found_by_name_in_any_unicode_form() -> None:
    pipeline = Pipeline()
    name, typed = "Ma\u0308rz\u00a01.txt", "M\u00e4rz\u202f1.txt"
    key = f"alice/B\u00fcro/{name}"
    pipeline.drop(key)
    choosing = DocumentLookup(
        catalogs=pipeline.catalogs, documents=pipeline.documents, bucket="docs"
    )

    for catalog in ("B\u00fcro", "bu\u0308ro"):
        for target in (typed, f"alice/Bu\u0308ro/{typed}", f"s3://docs/alice/B\u00fcro/{typed}"):
            [document] = choosing.chosen([target, name], user="alice", catalog=catalog)
            assert document.s3_key == key
    [document] = choosing.chosen([f"alice/B\u00fcro/{typed}"], user=None, catalog=None)
    assert document.s3_key == key
