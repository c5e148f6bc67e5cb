"""
passages: what the parser makes of a document, passage by passage.

Read and cut as the simulator does it when it ingests, and placed as answers cite: by the place map
that the inspection makes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from rich.markup import escape

from bedrock_kb_simulator.bucket_objects import S3Objects
from bedrock_kb_simulator.chunk_strategies import Chunking
from bedrock_kb_simulator.embedder import spans_of
from bedrock_kb_simulator.indexing import Drafts, bounded
from bedrock_kb_simulator.ingestion_settings import ingestion_of
from bedrock_kb_simulator.parsing import ChildParser
from bedrock_kb_simulator.service_errors import Unindexable
from stackroom.documents.formats import MAX_FILE_BYTES
from stackroom.documents.passages import OnlyPlaces, Passage
from stackroom.errors import Unreadable
from stackroom.inspection.extraction import Page
from stackroom.inspection.extraction.apart import read_pages_apart
from stackroom.inspection.gaps import gaps_of
from stackroom.inspection.place_map import PlaceMap
from stackroom.search.citations import Cited, cited
from stackroom.search.document_passages import told_apart
from stackroom.tools.texts import counted
from stackroom_local.cli.json_output import LeftOut, PassagesAnswer, PassageTold
from stackroom_local.cli.output import Output, TerminalConsole
from stackroom_local.cli.untrusted_text import one_line

_WHOSE = (
    "This is what the local parser makes of it. On AWS Bedrock parses and cuts by itself, and may"
    " do it otherwise."
)
_RUNNING = "running header, footer or page number: searched, and not shown"
_TEXTLESS = "no text; if it is a picture, it is not read"
_SECONDS = 120.0  # as long as the simulator gives a file


def passages(body: bytes, filename: str, *, chunking: Chunking, told: Output) -> None:
    """Raises Unreadable with the reason, for whoever has the file."""
    pages, texts = _pages(body, filename), _texts(body, filename, chunking)
    answer = PassagesAnswer(
        filename=filename,
        parser="local",
        max_tokens=chunking.max_tokens,
        overlap_percentage=chunking.overlap_percentage,
        pages=sum(page.number is not None for page in pages) or None,
        passages=[
            _told(number, text, each)
            for number, (text, each) in enumerate(_placed(texts, pages, filename), start=1)
        ],
        left_out=[
            LeftOut(page=page.number, text="", reason=_TEXTLESS)
            for page in pages
            if page.number is not None and not page.text.strip()
        ],
        gaps=gaps_of(pages),
    )
    _print(told.people, answer)
    told.answer(answer)


def body_at(path: Path) -> bytes:
    """Raises Unreadable."""
    try:
        path.name.encode()
        if path.is_dir():
            raise Unreadable(f"{path} is a folder; name a file")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Unreadable(f"{path}: the file exceeds {MAX_FILE_BYTES // 1024**2} MB")
        return path.read_bytes()
    except UnicodeEncodeError:
        raise Unreadable(f"{one_line(str(path))}: its name is not UTF-8; rename the file") from None
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error


def _pages(body: bytes, filename: str) -> Sequence[Page]:
    """As the inspection reads them, for the place map."""
    try:
        pages = read_pages_apart(body, filename, seconds=_SECONDS)
    except Unreadable as defect:
        raise Unreadable(f"{filename}: {defect.reason}") from defect
    if pages is None:
        raise Unreadable(f"{filename}: it took too long to read, or too much memory")
    return pages


def _texts(body: bytes, filename: str, chunking: Chunking) -> list[str]:
    """As they would be indexed."""
    fixed = {"maxTokens": chunking.max_tokens, "overlapPercentage": chunking.overlap_percentage}
    cut = {"chunkingStrategy": "FIXED_SIZE", "fixedSizeChunkingConfiguration": fixed}
    ingestion = ingestion_of(
        {
            "dataSourceConfiguration": {"type": "CUSTOM"},
            "vectorIngestionConfiguration": {"chunkingConfiguration": cut},
        }
    )
    parser = ChildParser()
    try:
        # Nothing is read of a bucket.
        drafts = Drafts(objects=S3Objects(_no_bucket), parser=parser)
        pieces = drafts.pieces(ingestion, body, filename)
        return [chunk.text for chunk in bounded(ingestion.strategy(pieces, _no_vector))]
    except Unindexable as error:
        raise Unreadable(f"{filename}: {error.cause.format(count=1)}") from error
    finally:
        parser.close()


def _no_bucket() -> NoReturn:
    raise AssertionError("what is inspected lies here")


def _no_vector(_: str) -> NoReturn:
    raise AssertionError("chunks of a fixed size are cut without vectors")


def _placed(
    texts: Sequence[str], pages: Sequence[Page], filename: str
) -> Iterator[tuple[str, Cited]]:
    attributes = {"document_id": "doc", "filename": filename}
    found = [Passage(text=text, score=0.0, attributes=attributes) for text in texts]
    return zip(texts, cited(found, OnlyPlaces(PlaceMap.of("", pages))), strict=True)


def _told(number: int, text: str, found: Cited) -> PassageTold:
    return PassageTold(
        number=number,
        page=found.source.page,
        page_first=found.source.page_first,
        page_last=found.source.page_last,
        section=found.source.section,
        tokens=len(spans_of(text)),
        is_navigation=found.place.is_navigation,
        text=text,
        left_out=[
            LeftOut(page=found.source.page, text=line.strip(), reason=_RUNNING)
            for line, is_shown in told_apart(text, found.shown)
            if not is_shown and line.strip()
        ],
    )


def _print(out: TerminalConsole, answer: PassagesAnswer) -> None:
    size = f"{counted(len(answer.passages), 'passage')} of at most {answer.max_tokens} tokens"
    of_pages = "" if answer.pages is None else f"{counted(answer.pages, 'page')}, "
    out.print(f"{escape(one_line(answer.filename))}: {of_pages}{size}")
    out.print(f"[dim]{_WHOSE}[/dim]")
    for each in answer.passages:
        out.print(f"\n[bold]\\[{each.number}][/bold] [cyan]{_stands(each)}[/cyan]")
        for line in filter(str.strip, each.text.splitlines()):
            out.print(f"    {line}", markup=False)
        if each.left_out:
            lines = " | ".join(one_line(left.text) for left in each.left_out)
            out.print(f"    [dim]{_RUNNING}: {escape(lines)}[/dim]")
    for left in answer.left_out:
        out.print(f"\n[yellow]page {left.page}: {left.reason}[/yellow]")
    for gap in answer.gaps:
        out.print(f"\n[yellow]gap: {escape(one_line(gap))}[/yellow]")


def _stands(passage: PassageTold) -> str:
    """Its place as an answer cites it, its size, and what becomes of it."""
    first, last = passage.page_first or passage.page, passage.page_last or passage.page
    told = [] if passage.page is None else [f"page {passage.page}"]
    if first != last:
        told[-1] += f" ({first} to {last})"
    if passage.section:
        told.append(escape(one_line(f"section {passage.section}")))
    told = told or ["no place known"]
    told.append(counted(passage.tokens, "token"))
    if passage.is_navigation:
        told.append("contents or index: comes last in answers")
    return ", ".join(told)
