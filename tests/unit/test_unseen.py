"""Characters that nobody sees, left out of each format unless they spell what people see."""

import pytest

from simulator.tests import files
from stackroom.errors import Illegible
from stackroom.text.document_text import text_of
from stackroom.text.extraction import Heading, read_pages
from stackroom.text.extraction.unseen import as_seen

_TAGS = "".join(chr(0xE0000 + ord(each)) for each in "Ignore all")
_SELECTORS = "".join(chr(0xE0100 + ord(each)) for each in "Ignore all")


@pytest.mark.parametrize(
    ("text", "seen", "hidden"),
    [
        (f"is{_TAGS} 30", "is 30", 10),
        (f"\U0001f3f4{_TAGS}\U000e007f", "\U0001f3f4", 11),  # no region has such a name
        ("pass\u200bword", "password", 1),
        ("pass\u200c\u200dword", "password", 2),
        ("pass\ufeffword, pass\u2060word", "password, password", 2),
        ("机\u200c密", "机密", 0),
        ("كل\u200bمة", "كلمة", 1),
        ("a \u202edlrow\u202c b", "a dlrow b", 1),
        (f"\U0001f600{_SELECTORS}!", f"\U0001f600{_SELECTORS[0]}!", 9),
        (f"x{_SELECTORS}", "x", 10),
        ("h\ufe01i\ufe02t", "hit", 2),
        ("The end.\u200b\u200c\u200b\u200c\u200c\u200b", "The end.", 6),
    ],
)
def test_characters_that_may_hide_something_are_counted(text: str, seen: str, hidden: int) -> None:
    assert as_seen(text) == (seen, hidden)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("exam\u00adple", "example"),
        ("https://\u200ba.example/\u200bpage", "https://a.example/page"),
        ("\u2068Ann\u2069 said \u200eyes\u200f", "Ann said yes"),
        ("2\u2062x", "2x"),
        ("\ufeffone\n\ufefftwo", "one\ntwo"),
        ("日本\u200b語", "日本\u200b語"),
    ],
)
def test_layout_characters_are_left_out_without_a_notice(text: str, seen: str) -> None:
    assert as_seen(text) == (seen, 0)


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "ه\u200d ",
        "क्\u200dष क्\u200cष",
        "\U0001f468\U0001f3fd\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525 \U0001f3f4\u200d\u2620\ufe0f 1\ufe0f\u20e3 \u2139\ufe0f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "葛\U000e0100城",
        "ภาษา\u200bไทย",
        "exam\u00ad\nple",
    ],
)
def test_characters_of_visible_words_are_kept(text: str) -> None:
    assert as_seen(text) == (text, 0)


def test_long_text_full_of_hidden_characters_is_read_in_seconds() -> None:
    assert as_seen("a\u200bb " * 30_000)[1] == 30_000


_LINE = f"Leave{_TAGS} is 30 days\u202e a year."
_SEEN = "Leave is 30 days a year."


@pytest.mark.parametrize(
    ("body", "filename"),
    [
        (_LINE.encode(), "a.txt"),
        (_LINE.encode(), "a.md"),
        (f"Rule,From\n{_LINE},May\n".encode(), "a.csv"),
        (f"<p>{_LINE.encode('ascii', 'xmlcharrefreplace').decode()}".encode(), "a.html"),
        (files.word(_LINE), "a.docx"),
        (files.workbook({"Rules": [["Rule", "From"], [_LINE, "May"]]}), "a.xlsx"),
    ],
)
def test_hidden_characters_are_left_out_and_reported_in_each_format(
    body: bytes, filename: str
) -> None:
    (page,) = read_pages(body, filename)

    assert _SEEN in page.text
    assert page.missing == ("11 characters that nobody can see were left out",)


def test_headings_stay_where_they_are_without_hidden_characters() -> None:
    (page,) = read_pages(f"<p>x{_TAGS}y<h2>Le{_TAGS}ave</h2><p>z".encode(), "a.html")

    assert (page.text, page.headings) == ("xy\nLeave\nz", (Heading(3, "Leave"),))


def test_names_and_titles_are_shown_without_hidden_characters() -> None:
    for name, title in ((f"a{_TAGS}.pdf", "30 days"), ("a.pdf", f"30{_TAGS} days")):
        pages = read_pages(files.pdf("30 days", "More.", title=title), name)

        assert not set(text_of(pages, name).markdown) & set(_TAGS)


def test_a_file_of_hidden_characters_alone_has_no_text() -> None:
    with pytest.raises(Illegible, match="no text was found"):
        read_pages(_TAGS.encode(), "a.txt")
