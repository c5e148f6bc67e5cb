"""Textract's DetectDocumentText: the lines and words of a page, by local OCR."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.parsing import Parser

_BEGINNINGS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"%PDF-", b"II*\0", b"MM\0*")
_WHOLE = (0.0, 0.0, 1.0, 1.0)

Place = Sequence[float]  # left, top, width and height, as shares of the page's sides
Block = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Textract:
    parser: Parser

    def detect_document_text(self, parameters: Parameters) -> Parameters:
        given = parameters["Document"]
        body = given.get("Bytes")
        if given.get("S3Object") is not None or body is None:
            raise rules.TEXTRACT_PARAMETER.broken()
        if not body.startswith(_BEGINNINGS):
            raise rules.TEXTRACT_FORMATS.broken()
        found = self.parser.detect_lines(body)
        if found is None:
            raise rules.TEXTRACT_UNREADABLE.broken()
        if found["pages"] > rules.TEXTRACT_PAGES.limit:
            raise rules.TEXTRACT_PAGES.broken()
        if max(found["sides"]) > rules.TEXTRACT_PIXELS.limit:
            raise rules.TEXTRACT_PIXELS.broken()
        return {
            "DocumentMetadata": {"Pages": 1},
            "Blocks": [*_blocks(found["lines"])],
            "DetectDocumentTextModelVersion": "1.0",
        }


def _blocks(lines: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Yield the page, its lines and their words; each names the blocks within it."""
    made = [(_block("LINE", each["place"], each), [*_words(each)]) for each in lines]
    yield _within(_block("PAGE", _WHOLE), [line for line, _ in made])
    for line, words in made:
        yield _within(line, words)
    for _, words in made:
        yield from words


def _words(line: Mapping[str, Any]) -> Iterator[Block]:
    """Yield a line's words, placed by the number of letters before them: OCR finds only lines."""
    text = line["text"]
    left, top, width, height = line["place"]
    at = 0
    for word in text.split():
        at = text.index(word, at)
        share = width / len(text)
        place = (left + at * share, top, len(word) * share, height)
        yield _block("WORD", place, {**line, "text": word}) | {"TextType": "PRINTED"}
        at += len(word)


def _block(kind: str, place: Place, of: Mapping[str, Any] | None = None) -> Block:
    left, top, width, height = place
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    polygon = [{"X": left + right * width, "Y": top + down * height} for right, down in corners]
    box = {"Width": width, "Height": height, "Left": left, "Top": top}
    block = {
        "BlockType": kind,
        "Geometry": {"BoundingBox": box, "Polygon": polygon},
        "Id": str(uuid4()),
    }
    return block if of is None else {**block, "Confidence": of["confidence"], "Text": of["text"]}


def _within(block: Block, parts: Sequence[Block]) -> Block:
    if not parts:
        return block
    return {**block, "Relationships": [{"Type": "CHILD", "Ids": [each["Id"] for each in parts]}]}
