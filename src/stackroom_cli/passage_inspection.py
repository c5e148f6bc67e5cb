"""
The `passages` command: a document's text, passage by passage.

The text is cut as the simulator cuts it, and each passage has its place as answers cite it.
"""

from pathlib import Path
from typing import NoReturn

from rich.markup import escape
from rich.text import Text

from bedrock_kb_simulator.chunk_strategies import Chunking, fixed_size
from bedrock_kb_simulator.embedder import spans_of
from bedrock_kb_simulator.indexing import limited
from stackroom.errors import Unreadable
from stackroom.model.formats import MAX_FILE_BYTES
from stackroom.model.passages import Passage
from stackroom.search.excerpts import is_navigation
from stackroom.text.context_lines import without_context
from stackroom.text.document_text import DocumentText, text_of
from stackroom.text.extraction.apart import read_pages_apart
from stackroom.tools.texts import counted
from stackroom_cli.json_output import LeftOut, PassagesAnswer, PassageTold
from stackroom_cli.output import Output, TerminalConsole
from stackroom_cli.untrusted_text import lines, one_line

_WHOSE = "This is the indexed text, cut as in the local mode; on AWS, Bedrock may cut it elsewhere."
_TEXTLESS = "no text; images are not read"
_SECONDS = 120.0  # as long as the simulator gives a file


def passages(text: DocumentText, filename: str, *, chunking: Chunking, output: Output) -> None:
    cut, pages = _cut(text.markdown, chunking), text.places.pages
    answer = PassagesAnswer(
        filename=filename,
        parser="local",
        max_tokens=chunking.max_tokens,
        overlap_percentage=chunking.overlap_percentage,
        pages=len(pages) or None,
        passages=[
            _passage_answer(number, each, text, filename)
            for number, each in enumerate(cut, start=1)
        ],
        left_out=[
            LeftOut(page=page, text="", reason=_TEXTLESS) for page, letters in pages if not letters
        ],
        gaps=text.gaps,
    )
    _print(output.people, answer)
    output.answer(answer)


def whole_text(text: DocumentText) -> None:
    """Print the text that is indexed."""
    print(lines(text.markdown), end="")  # noqa: T201 - the text alone, and nowhere wrapped


def body_at(path: Path) -> bytes:
    """Return a file's bytes. Raises Unreadable."""
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


def text_in(body: bytes, filename: str) -> DocumentText:
    """Return the text of a file. Raises Unreadable with the file's name and the reason."""
    try:
        pages = read_pages_apart(body, filename, seconds=_SECONDS)
    except Unreadable as defect:
        raise Unreadable(f"{filename}: {defect.reason}") from defect
    if pages is None:
        raise Unreadable(f"{filename}: it took too long to read, or too much memory")
    return text_of(pages, filename)


def _cut(text: str, chunking: Chunking) -> list[str]:
    """Return the passages as they would be indexed."""
    return [chunk.text for chunk in limited(fixed_size(chunking)([text], _no_vector))]


def _no_vector(_: str) -> NoReturn:
    raise AssertionError("chunks of a fixed size are cut without vectors")


def _passage_answer(number: int, passage: str, text: DocumentText, filename: str) -> PassageTold:
    place = text.places.place_of(passage)
    shown = Passage(text=without_context(passage), score=0.0, attributes={"filename": filename})
    return PassageTold(
        number=number,
        page=place.page,
        page_first=place.page_first,
        page_last=place.page_last,
        section=place.section,
        tokens=len(spans_of(passage)),
        is_navigation=is_navigation(shown),
        text=passage,
    )


def _print(out: TerminalConsole, answer: PassagesAnswer) -> None:
    size = f"{counted(len(answer.passages), 'passage')} of at most {answer.max_tokens} tokens"
    of_pages = "" if answer.pages is None else f"{counted(answer.pages, 'page')}, "
    out.print(f"{escape(one_line(answer.filename))}: {of_pages}{size}")
    out.print(f"[dim]{_WHOSE}[/dim]")
    for each in answer.passages:
        out.print(f"\n[bold]\\[{each.number}][/bold] [cyan]{_stands(each)}[/cyan]")
        for line in filter(str.strip, each.text.splitlines()):
            out.print(Text(f"    {line}", style="" if without_context(line) else "dim"))
    for left in answer.left_out:
        out.print(f"\n[yellow]page {left.page}: {left.reason}[/yellow]")
    for gap in answer.gaps:
        out.print(f"\n[yellow]gap: {escape(one_line(gap))}[/yellow]")


def _stands(passage: PassageTold) -> str:
    """
    Describe a passage: its place as an answer cites it, its size, and its rank if it is navigation.
    """
    first, last = passage.page_first or passage.page, passage.page_last or passage.page
    parts = [] if passage.page is None else [f"page {passage.page}"]
    if first != last:
        parts[-1] += f" ({first} to {last})"
    if passage.section:
        parts.append(escape(one_line(f"section {passage.section}")))
    parts = parts or ["place unknown"]
    parts.append(counted(passage.tokens, "token"))
    if passage.is_navigation:
        parts.append("contents or index: comes last in answers")
    return ", ".join(parts)
