"""The `ask` and `retrieve` commands: search as an agent does, over MCP through the gateway."""

import json
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from stackroom.access.tool import is_encodable
from stackroom.errors import ValidationError
from stackroom.tools.texts import WEAK, range_of_scores, scores
from stackroom_cli.callers import Asker
from stackroom_cli.failures import WrongUsage
from stackroom_cli.output import Output
from stackroom_cli.untrusted_text import one_line
from stackroom_client.calls import SEARCH

_BRIEF = 2


def ask(asker: Asker, question: str, *, catalog: str | None, top: int, output: Output) -> None:
    given = {"query": question, "top_k": top, **asker.within(catalog)}
    answer = asker.client.call(SEARCH, given)
    if output.is_json:
        output.tell(json.dumps(answer, indent=2, ensure_ascii=False))
        _require_success(answer)
    else:
        print_passages(output.people, answer)


def retrieve(
    asker: Asker, query: str, *, catalog: str | None, top: int, arguments: str, output: Output
) -> None:
    given = {"query": query, "top_k": top, **asker.within(catalog), **_object(arguments)}
    answer = asker.client.call(SEARCH, given)
    output.tell(json.dumps(answer, indent=2, ensure_ascii=False))
    _require_success(answer)


def print_passages(out: Console, answer: dict[str, Any], *, brief: bool = False) -> None:
    """Print the passages of an answer; with `brief`, only two lines of each after the first."""
    _require_success(answer)
    of = [result["score"] for result in answer["results"]]
    for number, (result, score) in enumerate(zip(answer["results"], scores(of), strict=True), 1):
        stands = f"[cyan]{_stands(result['source'])}[/cyan]"
        out.print(
            f"[bold]\\[{number}][/bold] {stands}" + (f"  [dim]{score}[/dim]" if score else "")
        )
        for source in result.get("other_sources", ()):
            out.print(f"    [dim]the same in[/dim] [cyan]{_stands(source)}[/cyan]")
        clip = _BRIEF if brief and number > 1 else None
        for gap in result.get("metadata", {}).get("gaps", ()):
            out.print(Text(f"    {one_line(gap)}", style="yellow"))
        out.print(_indented(result["content"], clip), markup=False)
    if not answer["results"]:
        out.print("nothing found in this user's documents")
    if scale := range_of_scores(of):
        out.print(f"[dim]{scale}[/dim]")
    if "relevance_notice" in answer["metadata"]:
        out.print(WEAK)


def _stands(source: dict[str, Any]) -> str:
    file = escape(one_line(str(source["filename"])))
    page = f", page {source['page']}" if source.get("page") is not None else ""
    section = f", section {source['section']}" if source.get("section") else ""
    return f"{file}{page}{escape(one_line(section))}"


def _require_success(answer: dict[str, Any]) -> None:
    if not answer["success"]:
        raise ValidationError(f"{answer['errorType']}: {answer['error']}")


def _indented(passage: str, clip: int | None = None) -> str:
    lines = [f"    {line}" for line in passage.strip().splitlines() if line.strip()]
    return "\n".join(lines if clip is None or len(lines) <= clip else [*lines[:clip], "    ..."])


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongUsage(f"--arguments is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise WrongUsage("--arguments must be a JSON object")
    if not is_encodable(value):  # the client would send null, or leave the argument out
        raise WrongUsage(
            "--arguments has a value that JSON in UTF-8 can't express: NaN, Infinity, a number as "
            "large as 1e999, or half of a surrogate pair (\\ud800 to \\udfff)"
        )
    return value
