"""The texts of documents in S3, as moto has it."""

from dataclasses import replace
from typing import Any

import pytest

from stackroom.aws.s3.document_texts import S3DocumentTexts
from stackroom.errors import StoreUnavailable
from stackroom.model.keys import TextName
from stackroom.text.document_text import text_of
from stackroom.text.extraction import Page
from tests.aws.stores import BUCKET

ALICES = ("alice", f"cat-{'a' * 24}", f"doc-{'0' * 24}")
NAME = TextName(*ALICES, "0123456789abcdef")
TEXT = text_of([Page(1, "größe"), Page(2, "Züge fahren")], "travel.pdf")


@pytest.fixture
def texts(s3: Any) -> S3DocumentTexts:
    return S3DocumentTexts(s3, BUCKET)


def test_a_text_comes_back_as_it_was_put_with_its_places(texts: S3DocumentTexts, s3: Any) -> None:
    texts.put(NAME, TEXT)

    found, places = texts.text(NAME), texts.get(NAME)
    assert found == TEXT.markdown
    assert places == TEXT.places
    assert places.place_of("Züge fahren").page == 2
    heads = [s3.head_object(Bucket=BUCKET, Key=key) for key in (NAME.key, NAME.places_key)]
    assert [each["ContentType"] for each in heads] == [
        "text/markdown; charset=utf-8",
        "application/json",
    ]
    assert heads[1]["ContentEncoding"] == "gzip"


def test_stored_text_always_has_its_place_map(
    texts: S3DocumentTexts, monkeypatch: pytest.MonkeyPatch
) -> None:
    puts = list[str]()
    put_object = texts.client.put_object

    def noted(**request: Any) -> Any:
        puts.append(request["Key"])
        return put_object(**request)

    monkeypatch.setattr(texts.client, "put_object", noted)

    texts.put(NAME, TEXT)

    assert puts == [NAME.places_key, NAME.key]


def test_names_lists_each_text_of_one_document_once(texts: S3DocumentTexts, s3: Any) -> None:
    other = replace(NAME, text_id="f" * 16)
    longer = replace(NAME, document_id=f"{NAME.document_id}0")
    for name in (other, NAME, longer, replace(NAME, user_id="bob")):
        texts.put(name, TEXT)
    s3.delete_object(Bucket=BUCKET, Key=other.key)  # a crash left its places alone

    assert texts.names(*ALICES) == [NAME, other]
    assert texts.names("carol", *ALICES[1:]) == []


def test_texts_are_removed_with_their_places_and_no_other(texts: S3DocumentTexts, s3: Any) -> None:
    stays = replace(NAME, text_id="f" * 16)
    several = [replace(NAME, text_id=f"{number:016x}") for number in range(3)]
    for name in (stays, *several):
        texts.put(name, TEXT)

    for _ in range(2):
        texts.remove(iter(several))

        listed = s3.list_objects_v2(Bucket=BUCKET)["Contents"]
        assert [each["Key"] for each in listed] == [stays.key, stays.places_key]
        assert (texts.text(several[0]), texts.get(several[0])) == (None, None)
    texts.remove([])


def test_text_that_s3_does_not_delete_is_an_error_not_a_removal(
    texts: S3DocumentTexts, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"Errors": [{"Key": NAME.key, "Code": "InternalError"}]}
    monkeypatch.setattr(texts.client, "delete_objects", lambda **_: answer)

    with pytest.raises(StoreUnavailable, match="DeleteObjects answered InternalError"):
        texts.remove([NAME])


def test_cut_off_place_map_is_refused(texts: S3DocumentTexts, s3: Any) -> None:
    texts.put(NAME, TEXT)
    whole = s3.get_object(Bucket=BUCKET, Key=NAME.places_key)["Body"].read()
    s3.put_object(Bucket=BUCKET, Key=NAME.places_key, Body=whole[:-10])

    with pytest.raises(ValueError, match="not gzip, or cut off"):
        texts.get(NAME)
