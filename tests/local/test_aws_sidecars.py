"""Attributes from a sidecar written for AWS, and refusals."""

import json
from typing import Any

import pytest

from stackroom.errors import ValidationError
from stackroom.uploads.descriptions import object_metadata, user_attributes
from stackroom_cli.sites.aws_sidecars import read


def typed(kind: str, field: str, value: object, **more: object) -> dict[str, Any]:
    return {"value": {"type": kind, field: value}, **more}


def body(attributes: object) -> bytes:
    return json.dumps({"metadataAttributes": attributes}).encode()


PLAIN = {"dept": "hr", "year": 2026, "share": 0.5, "public": True, "tags": ["a", "b"]}
TYPED = {
    "dept": typed("STRING", "stringValue", "hr", includeForEmbedding=False),
    "year": typed("NUMBER", "numberValue", 2026),
    "share": typed("NUMBER", "numberValue", 0.5),
    "public": typed("BOOLEAN", "booleanValue", True),
    "tags": typed("STRING_LIST", "stringListValue", ["a", "b"]),
}


@pytest.mark.parametrize("written", [PLAIN, TYPED, {**PLAIN, "dept": TYPED["dept"]}])
def test_plain_and_typed_attributes_become_the_same(written: dict[str, Any]) -> None:
    found = read(body(written))

    assert (found.attributes, found.notes) == (PLAIN, ())
    assert user_attributes(object_metadata(found.attributes)) == PLAIN


def test_reserved_attribute_is_left_out_with_a_note() -> None:
    foreign = {
        "user_id": "mallory",
        "User_ID": "mallory",
        "catalog_id": typed("STRING", "stringValue", "cat-1"),
        "document_id": "doc-1",
        "filename": "a.pdf",
        "uploaded_at": "2020-01-01",
        "uploaded_ts": 1,
        "folder": ["x"],
        "x-amz-bedrock-kb-source-uri": "s3://other",
        "allowed_groups": ["everybody"],
    }

    found = read(body({**foreign, "dept": "hr"}))

    assert found.attributes == {"dept": "hr"}
    assert len(found.notes) == len(foreign)
    assert found.notes[0] == "attribute 'user_id' is left out: only Stackroom sets it"


def test_lowercased_names_and_dropped_embedding_are_noted() -> None:
    found = read(
        body({"Dept": "hr", "place": typed("STRING", "stringValue", "x", includeForEmbedding=True)})
    )

    assert found.attributes == {"dept": "hr", "place": "x"}
    assert found.notes == (
        "attribute 'Dept' becomes 'dept'",
        "attribute 'place' is used for filters only, and not embedded",
    )


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, 2],
        typed("NUMBER", "numberValue", "2026"),
        {"value": {"type": "STRING", "stringValue": "a", "numberValue": 1}},
    ],
)
def test_value_of_no_known_form_is_refused_by_its_name(value: object) -> None:
    with pytest.raises(ValidationError, match="attribute 'odd' must be a text, a number"):
        read(body({"dept": "hr", "odd": value}))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (b"dept: hr", "not valid JSON"),
        (b'{"dept": "hr"}', "no object 'metadataAttributes'"),
        (
            b'{"metadataAttributes": {}, "accessControlList": []}',
            "unsupported members: accessControlList",
        ),
        (body({"dept": "hr", "Dept": "it"}), "'Dept' occurs twice"),
    ],
)
def test_sidecar_that_cannot_be_kept_whole_is_refused(written: bytes, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        read(written)


@pytest.mark.parametrize(
    "attributes",
    [
        {"text": ""},
        {"tags": ["a,b"]},
        {"tags": [str(each) for each in range(11)]},
        {"two words": "x"},
    ],
)
def test_value_that_no_object_can_carry_is_refused(attributes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=f"attribute (name )?'{next(iter(attributes))}'"):
        object_metadata(read(body(attributes)).attributes)
