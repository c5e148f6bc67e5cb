"""Sections of what the simulator cuts from a file: of the same text, whole and in passages."""

import re
from collections.abc import Iterator

import pytest

from stackroom.inspection.extraction import Page, read_pages
from stackroom.inspection.place_map import PlaceMap
from stackroom_local.demo import EXAMPLES
from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.parsing import ChildParser
from tests import files

pytestmark = pytest.mark.processes

FILES = {
    "incident-guide.docx": (EXAMPLES / "alice/handbook/incident-guide.docx").read_bytes(),
    "onboarding.md": (EXAMPLES / "alice/handbook/onboarding.md").read_bytes(),
    "bee-rules.md": (EXAMPLES / "bob/allotment/bee-rules.md").read_bytes(),
    "handbook.html": files.html_of_sections(
        {
            heading: paragraphs
            for heading, *paragraphs in (
                section.splitlines()
                for section in (EXAMPLES / "sources/employee-handbook.md")
                .read_text()
                .removeprefix("# ")
                .split("\n## ")
            )
        }
    ),
}


@pytest.fixture(scope="module")
def parser() -> Iterator[ChildParser]:
    parser = ChildParser()
    yield parser
    parser.close()


@pytest.mark.parametrize("max_tokens", [40, 300])
@pytest.mark.parametrize("filename", FILES)
def test_every_passage_is_in_the_section_in_which_it_begins(
    parser: ChildParser, filename: str, max_tokens: int
) -> None:
    body = FILES[filename]
    pages = read_pages(body, filename)
    place_map = PlaceMap.of("etag", pages)
    text = parser.text(body, filename)
    assert place_map is not None
    assert text == pages[0].text

    passages = [*Chunking(max_tokens=max_tokens).split(text)]

    found = [place_map.place_of(passage).section for passage in passages]
    assert found == [_section_at(pages[0], passage) for passage in passages]


def _section_at(page: Page, passage: str) -> str | None:
    """A passage may begin with the full stop of the section above."""
    words = re.sub(r"^\W+", "", passage)
    return [each.text for each in page.headings if each.at <= page.text.index(words)][-1]
