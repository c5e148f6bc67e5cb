"""S3's description of an object, and the sidecar made from it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.batch import object_event
from stackroom.errors import MalformedEvent, ValidationError
from stackroom.model.attributes import Attribute, record_entries
from stackroom.model.bucket import FileVersion
from stackroom.model.keys import Location
from stackroom.text.text_ids import text_id_of
from stackroom.uploads.descriptions import (
    RESERVED,
    object_metadata,
    own_sidecar,
    user_attributes,
)

EVENT = {
    "id": "event-1",
    "detail-type": "Object Created",
    "detail": {
        "bucket": {"name": "docs"},
        "object": {"key": "alice/a b+c%20.pdf", "sequencer": "1"},
    },
}


def test_key_of_an_event_is_used_unchanged() -> None:
    event = object_event(json.dumps(EVENT))

    assert event.key == "alice/a b+c%20.pdf"
    assert event.correlation_id == "event-1"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("no json", "body"),
        ("[]", "body"),
        (json.dumps({**EVENT, "detail": {"bucket": {"name": "docs"}}}), "detail.object"),
        (json.dumps({**EVENT, "id": ""}), "id"),
    ],
)
def test_malformed_event_is_refused_with_the_position_of_the_mistake(body: str, named: str) -> None:
    with pytest.raises(MalformedEvent, match=named):
        object_event(body)


def a_sidecar(attributes: dict[str, Attribute], filename: str = "report.pdf") -> tuple[bytes, bool]:
    location = Location(
        key=f"alice/hr/{filename}",
        user_id="alice",
        folder="hr",
        filename=filename,
        catalog_id="cat-1",
        document_id="doc-1",
    )
    return own_sidecar(location, attributes, uploaded_at=datetime(2026, 2, 3, 10, 30, tzinfo=UTC))


def test_sidecar_has_the_owner_and_the_users_attributes() -> None:
    body, _ = a_sidecar({"domain": "hr", "allowed_groups": ["staff", "board"]})

    assert json.loads(body) == {
        "metadataAttributes": {
            "domain": "hr",
            "allowed_groups": ["staff", "board"],
            "user_id": "alice",
            "catalog_id": "cat-1",
            "document_id": "doc-1",
            "filename": "report.pdf",
            "uploaded_at": "2026-02-03T10:30:00Z",
            "uploaded_ts": 1770114600,
        }
    }


def test_attributes_come_from_object_metadata_of_our_prefix_alone() -> None:
    attributes = user_attributes(
        {
            "kb-domain": "hr",
            "kb-list-taxonomy": "pay, leave ,travel",
            "kb-author": "=?UTF-8?Q?Ren=C3=A9?=",
            "camera": "none of our business",
        }
    )

    assert attributes == {"domain": "hr", "taxonomy": ["pay", "leave", "travel"], "author": "René"}


def test_typed_attributes_follow_their_headers() -> None:
    attributes = user_attributes(
        {
            "kb-number-year": "2026",
            "kb-number-rate": "-1.5",
            "kb-bool-public": "true",
            "kb-date-signed": "2026-03-01",
            "kb-date-sent": "2026-03-01T12:00:00+02:00",
            "kb-note": "2026",
        }
    )

    assert attributes == {
        "year": 2026,
        "rate": -1.5,
        "public": True,
        "signed": "2026-03-01",
        "signed_ts": 1772323200,
        "sent": "2026-03-01T12:00:00+02:00",
        "sent_ts": 1772359200,
        "note": "2026",
    }
    assert record_entries(attributes) == {
        "year:number",
        "rate:number",
        "public:boolean",
        "signed:date",
        "signed_ts:number",
        "sent:date",
        "sent_ts:number",
        "note:text",
    }


@pytest.mark.parametrize(
    ("filename", "folders"),
    [
        ("report.pdf", None),
        ("2026/report.pdf", ["2026"]),
        ("2026/contracts/report.pdf", ["2026", "2026/contracts"]),
        ("Bu\u0308ro/report.pdf", ["B\u00fcro"]),
    ],
)
def test_sidecar_names_every_folder_the_file_lies_in(
    filename: str, folders: list[str] | None
) -> None:
    body, has_folder = a_sidecar({}, filename)

    assert json.loads(body)["metadataAttributes"].get("folder") == folders
    assert has_folder


@pytest.mark.parametrize(
    ("attributes", "filename"),
    [
        ({}, "/".join("abcdefghijk") + "/report.pdf"),  # eleven, and a list has ten
        ({}, "/".join(["A long name of a folder"] * 9) + "/report.pdf"),
        ({"note": "x" * 800}, "2026/report.pdf"),
        ({f"a{n}": "x" for n in range(28)}, "2026/report.pdf"),
    ],
)
def test_sidecar_without_room_for_folders_names_none_of_them(
    attributes: dict[str, Attribute], filename: str
) -> None:
    body, has_folder = a_sidecar(attributes, filename)

    assert "folder" not in json.loads(body)["metadataAttributes"]
    assert not has_folder


def test_allowed_groups_attribute_is_a_list_even_for_one_group() -> None:
    one = user_attributes({"kb-allowed_groups": "Research, Berlin"})
    several = user_attributes({"kb-list-allowed_groups": "=?UTF-8?Q?finance,_Caf=C3=A9?="})

    assert one == {"allowed_groups": ["Research, Berlin"]}
    assert several == {"allowed_groups": ["finance", "Café"]}


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"kb-user_id": "bob"}, "'user_id' is reserved"),
        ({"kb-list-catalog_id": "x"}, "'catalog_id' is reserved"),
        ({"kb-": "x"}, "attribute name '' is malformed"),
        ({"kb-domain": ""}, "'domain' must have 1 to 2048 characters"),
        ({"kb-list-tags": "a,,b"}, "'tags' must list 1 to 10 values"),
        ({"kb-tags": "a", "kb-list-tags": "b"}, "'tags' is given twice"),
        ({"kb-number-year": "2,026"}, "'year' must be a number such as 2026"),
        ({"kb-number-id": "9007199254740993"}, "'id' must be a number of at most 15 digits"),
        ({"kb-number-year": "2026", "kb-year": "2026"}, "'year' is given twice"),
        ({"kb-date-signed": "1 March 2026"}, "'signed' must be a date such as 2026-03-01"),
        ({"kb-date-signed": "2026-02-30"}, "'signed' must be a date"),
        ({"kb-date-signed": "2026-03-01", "kb-signed_ts": "1"}, "'signed_ts' is given twice"),
        ({"kb-bool-public": "yes"}, "'public' must be true or false"),
        ({"kb-bool-allowed_groups": "true"}, "'allowed_groups' must be a text or a list"),
        ({"kb-a": "=?martian?Q?x?="}, "in no known encoding"),
    ],
)
def test_wrong_attributes_are_named(metadata: dict[str, str], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem.replace("(", r"\(")):
        user_attributes(metadata)


@pytest.mark.parametrize(
    ("allowed", "refused", "problem"),
    [
        (
            {f"a{n}": "x" for n in range(28)},
            {f"a{n}": "x" for n in range(29)},
            "29 user attributes are too many; at most 28",
        ),
        ({"note": "x" * 800}, {"note": "x" * 1000}, "at most 1024 are allowed"),
    ],
)
def test_too_many_or_too_large_attributes_are_refused_with_what_is_allowed(
    allowed: dict[str, Attribute], refused: dict[str, Attribute], problem: str
) -> None:
    a_sidecar(allowed)

    with pytest.raises(ValidationError, match=problem):
        a_sidecar(refused)


def test_sidecar_leaves_room_for_the_text_id_that_a_direct_call_adds() -> None:
    empty, _ = a_sidecar({"note": ""})
    left = 1024 - len(empty) - len(',"text_id":"0123456789abcdef"')

    largest, _ = a_sidecar({"note": "x" * left})

    attributes = json.loads(largest)["metadataAttributes"]
    sent = {"metadataAttributes": {**attributes, "text_id": text_id_of(FileVersion("e", "v"), "a")}}
    assert len(json.dumps(sent, separators=(",", ":"))) == 1024
    with pytest.raises(ValidationError, match="1025 bytes"):
        a_sidecar({"note": "x" * (left + 1)})


@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9][a-z0-9_]{0,10}", fullmatch=True).filter(
            lambda name: name not in RESERVED
        ),
        st.text(min_size=1, max_size=30)
        | st.lists(st.text(min_size=1, max_size=10), max_size=12)
        | st.booleans()
        | st.integers()
        | st.floats(),
        max_size=3,
    )
)
def test_object_metadata_round_trips_attributes(
    attributes: dict[str, Attribute],
) -> None:
    try:
        carried = object_metadata(attributes)
    except ValidationError:
        return
    assert all(f"{name}{value}".isascii() for name, value in carried.items())
    found = user_attributes(carried)
    assert {name: found[name] for name in attributes} == attributes


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ({"user_id": "bob"}, "reserved"),
        ({"Domain": "hr"}, "malformed"),
        ({"list-a": "hr"}, "begins as only attributes of other types"),
        ({"a": float("inf")}, "must be a number"),
        ({"tags": ["a,b"]}, "comma"),
        ({"tags": []}, "1 to 10"),
        ({"domain": " hr"}, "white space"),
        ({"domain": ""}, "1 to 2048"),
        ({"domain": "ö" * 900}, "as S3 carries them"),
    ],
)
def test_attributes_that_no_object_can_carry(
    attributes: dict[str, Attribute], problem: str
) -> None:
    with pytest.raises(ValidationError, match=problem):
        object_metadata(attributes)


@pytest.mark.parametrize("begins", ["x", "list-", "x-amz-bedrock"])
def test_a_name_of_a_million_characters_is_refused_in_a_short_text(begins: str) -> None:
    with pytest.raises(ValidationError, match="malformed") as refused:
        object_metadata({begins + "x" * 1_000_000: ["a,b"]})

    assert len(str(refused.value)) < 300
