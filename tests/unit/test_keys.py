import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.model.keys import (
    Location,
    TextName,
    Unplaced,
    canonical_name,
    catalog_id_of,
    document_id_of,
    is_ours,
    is_user_id,
    locate,
    may_be_document,
    path_problem,
    text_name_of,
)


@pytest.mark.parametrize(
    "filename",
    [
        "report.pdf",
        "2026/Q1 résumé (final)+v2.pdf",
        "100% sure?.txt",
        "🎉 party.md",
        "re\u0301sume\u0301.txt",
        "…/three dots.txt",
    ],
)
def test_any_file_name_has_its_slot(filename: str) -> None:
    place = locate(f"alice/research/{filename}")

    assert isinstance(place, Location)
    assert (place.user_id, place.folder, place.filename) == ("alice", "research", filename)
    assert path_problem(filename) is None
    assert place.prefix == "alice/research/"


@pytest.mark.parametrize("path", ["../a.pdf", "a/./b.pdf", "/a.pdf", "a//b.pdf", ".."])
def test_an_object_of_an_impossible_path_is_still_the_catalogs(path: str) -> None:
    place = locate(f"alice/research/{path}")

    assert isinstance(place, Location)
    assert (place.catalog_id, place.filename) == (catalog_id_of("alice", "research"), path)
    assert "folder in it" in (path_problem(path) or "")


def test_catalog_names_differ_by_more_than_case_and_composition() -> None:
    same = {catalog_id_of("alice", name) for name in ("Café", "café", "CAFE\u0301")}

    assert len(same) == 1
    assert catalog_id_of("alice", "cafe") not in same
    assert catalog_id_of("bob", "Café") not in same


def test_a_catalogs_id_as_folder_names_that_catalog() -> None:
    catalog_id = catalog_id_of("alice", "Research")

    place = locate(f"alice/{catalog_id}/a.txt")

    assert isinstance(place, Location)
    assert place.catalog_id == catalog_id
    assert place.names_a_catalog_id


@pytest.mark.parametrize(
    ("key", "user_id", "reason"),
    [
        ("lost.pdf", "!none", "it has no folder"),
        ("alice/lost.pdf", "alice", "no catalog folder"),
        ("alice/re_search/a.pdf", "alice", "invalid characters"),
        ("alice/research /a.pdf", "alice", "start or end with a space"),
        (f"alice/{'x' * 101}/a.pdf", "alice", "1 to 100 characters"),
        ("alice//a.pdf", "alice", "1 to 100 characters"),
        ("alice/", "alice", "no catalog folder"),
        ("alice/research/", "alice", "ends in '/'"),
        ("alice/research/2026/", "alice", "ends in '/'"),
        ("_sys/research/a.pdf", "!none", "'_sys' can't be a user id"),
        ("/abs/a.pdf", "!none", "its key begins with '/'"),
        (f"{'u' * 120}/{'é' * 100}/a.pdf", "u" * 120, "exceed 300 bytes"),
    ],
)
def test_unplaced_key_has_a_reason_and_an_owner(key: str, user_id: str, reason: str) -> None:
    place = locate(key)

    assert isinstance(place, Unplaced)
    assert place.user_id == user_id
    assert reason in place.reason


CATALOG_ID, DOCUMENT_ID, TEXT_ID = f"cat-{'0a' * 12}", f"doc-{'1b' * 12}", "2c" * 16
OF_DOCUMENT = f"_text/alice/{CATALOG_ID}/{DOCUMENT_ID}/"
TEXT_KEY = f"{OF_DOCUMENT}{TEXT_ID}.md"


def test_texts_key_names_its_owner_catalog_document_and_text() -> None:
    name = text_name_of(TEXT_KEY)

    assert name == TextName("alice", CATALOG_ID, DOCUMENT_ID, TEXT_ID)
    assert (name.key, name.folder) == (TEXT_KEY, OF_DOCUMENT)
    assert name.places_key == f"{OF_DOCUMENT}{TEXT_ID}.places.json.gz"


@pytest.mark.parametrize(
    "key",
    [
        *("", "_text/", "_text", OF_DOCUMENT, f"{OF_DOCUMENT}.md", TEXT_KEY.removesuffix(".md")),
        TEXT_KEY.removeprefix("_text/"),
        f"/{TEXT_KEY}",
        f"_text/{TEXT_KEY}",
        f"{TEXT_KEY}.md",
        f"{TEXT_KEY}\n",
        f"{TEXT_KEY}/",
        TEXT_KEY.upper(),
        TEXT_KEY.replace(".md", ".places.json.gz"),
        TEXT_KEY.replace("alice", "_text"),
        TEXT_KEY.replace("alice", ".."),
        TEXT_KEY.replace("alice", ""),
        TEXT_KEY.replace("alice", "mallory/../alice"),
        TEXT_KEY.replace("alice/", ""),
        TEXT_KEY.replace("alice/", "alice//"),
        TEXT_KEY.replace("alice/", "alice/./"),
        TEXT_KEY.replace(CATALOG_ID, CATALOG_ID[:-1]),
        TEXT_KEY.replace(CATALOG_ID, "research"),
        TEXT_KEY.replace(DOCUMENT_ID, f"{DOCUMENT_ID}0"),
        TEXT_KEY.replace(DOCUMENT_ID, CATALOG_ID),
        TEXT_KEY.replace(TEXT_ID, TEXT_ID[:15]),
        TEXT_KEY.replace(TEXT_ID, TEXT_ID * 3),
        TEXT_KEY.replace(TEXT_ID, TEXT_ID.upper()),
    ],
)
def test_key_that_is_not_exactly_a_texts_names_no_text(key: str) -> None:
    assert text_name_of(key) is None


@given(key=st.text(alphabet="_text/alice.md0c-", max_size=120) | st.text())
def test_key_whose_text_is_named_is_that_texts_key(key: str) -> None:
    name = text_name_of(key)

    assert name is None or name.key == key


def test_folder_of_texts_is_no_users_and_nothing_in_it_is_a_document() -> None:
    assert not is_user_id("_text")
    assert isinstance(locate(TEXT_KEY), Unplaced)
    assert is_ours(TEXT_KEY)
    assert is_ours("_text/anything")
    assert not is_ours("_texts/anything")
    assert not is_ours("alice/_text/a.md")


@pytest.mark.parametrize(
    "path",
    [
        ".DS_Store",
        "2026/.ds_store",
        "._report.pdf",
        "._notes\n.txt",
        "__MACOSX/2026/report.pdf",
        ".Trashes/501/old.txt",
        "Icon\r",
        "2026/thumbs.DB",
        "desktop.ini",
        "$RECYCLE.BIN/$R1.txt",
        "~$plan.docx",
        "~WRL0001.tmp",
        ".~lock.plan.odt#",
        "notes.pdf.tmp",
        "movie.mp4.PART",
        "Unconfirmed 1234.crdownload",
        "report.pdf.partial",
    ],
)
def test_junk_of_systems_and_programs_is_nobodys_document(path: str) -> None:
    assert not any(map(may_be_document, (path, f"alice/{path}", f"alice/research/{path}")))


@pytest.mark.parametrize(
    "path",
    [
        "Thumbs up.md",
        "desktop plan.txt",
        "lock.txt",
        "~draft.txt",
        "a~$b.docx",
        ".hidden.txt",
        "DS_Store.txt",
        "my__MACOSX/report.pdf",
        "report.tmp.pdf",
        "tmp/report.pdf",
        "part",
        "spare.parts.csv",
        ".part/one.md",
    ],
)
def test_names_that_only_look_like_junk_are_documents(path: str) -> None:
    assert may_be_document(f"alice/research/{path}")


SAME_NAMES = [
    ("Absch\u00e4tzung.txt", "Abscha\u0308tzung.txt"),
    ("\ud55c\uad6d/a.txt", "\u1112\u1161\u11ab\u1100\u116e\u11a8/a.txt"),
    ("\u304c.md", "\u304b\u3099.md"),
    ("Vi\u1ec7t.pdf", "Vie\u0323\u0302t.pdf"),
    ("shot at 3.00 PM.pdf", "shot at 3.00\u202fPM.pdf"),
    ("a b.txt", "a\u00a0b.txt"),
    ("a b.txt", "a\u3000b.txt"),
    ("notes.txt", "notes\u200b.txt"),
    ("notes.txt", "\ufeffnotes.txt"),
]


@pytest.mark.parametrize(("one", "other"), SAME_NAMES)
def test_names_that_differ_by_encoding_alone_are_one_document(one: str, other: str) -> None:
    assert document_id_of("cat-1", one) == document_id_of("cat-1", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paypal.txt", "p\u0430ypal.txt"),  # a Cyrillic a
        ("a.txt", "\uff41.txt"),  # a fullwidth a
        ("fi.txt", "\ufb01.txt"),  # a ligature
        ("a.txt", "A.txt"),
        ("a b.txt", "a  b.txt"),
        ("ab.txt", "a\u200db.txt"),  # a joiner
        ("ab.txt", "a\u202eb.txt"),  # an override of direction
    ],
)
def test_names_that_only_look_alike_are_two_documents(one: str, other: str) -> None:
    assert document_id_of("cat-1", one) != document_id_of("cat-1", other)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_canonical_form_of_a_name_is_its_own_and_keeps_folders(name: str) -> None:
    canonical = canonical_name(name)

    assert canonical_name(canonical) == canonical
    assert canonical.split("/") == [canonical_name(each) for each in name.split("/")]


@pytest.mark.parametrize("user", ["\u212aate", "zoe\u0301", "zo\u00e9", "zoe\u200b", "zoe\u00a0"])
def test_no_user_id_is_taken_for_anothers(user: str) -> None:
    place = locate(f"{user}/research/a.txt")

    assert isinstance(place, Unplaced)
    assert place.user_id == "!none"
