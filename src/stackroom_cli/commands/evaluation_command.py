"""The verb that measures how often the answers are right."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_cli.commands.options import AsUser, Groups, Json, StateDir, output, site_of


def evaluate(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="A file of questions, one a line: docs/evaluate.md."
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: Annotated[
        str, typer.Option("--catalog", "-c", help="The catalog that is asked: its name or id.")
    ],
    user: AsUser = None,
    group: Groups,
    draft: Annotated[
        bool,
        typer.Option(
            "--draft", help="Write QUESTIONS instead, from the catalog's documents, to accept."
        ),
    ] = False,
    count: Annotated[
        int, typer.Option(min=1, max=1_000, help="With --draft: how many have an answer.")
    ] = 30,
    kept: Annotated[
        bool,
        typer.Option(
            "--kept",
            help="Add to QUESTIONS instead what was said of answers, in the console and by agents.",
        ),
    ] = False,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=VALUE",
            help="An argument of the tool, such as min_score=0.3; again for more.",
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Tell what differs from that run, and what is noise."),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate", help="Find a least score for these documents; asks each once more."
        ),
    ] = False,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="Exit with 1 unless it is reached: top3=90, nothing=3; again for more.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the run there, and files in TREC's formats."),
    ] = None,
    unaccepted: Annotated[
        bool, typer.Option("--unaccepted", help="Ask what nobody has accepted, too.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Spend on AWS what it costs, without asking.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask questions with known answers, and report how often the answers are right."""
    from stackroom_cli import evaluations, kept_questions
    from stackroom_cli.callers import Asker
    from stackroom_cli.failures import WrongUsage

    if draft and kept:
        raise WrongUsage("--draft writes a new file, --kept adds to one: name one of them")
    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    if kept:
        kept_questions.keep(asker, questions, catalog=catalog, told=output(as_json))
        return
    if draft:
        evaluations.draft(asker, questions, catalog=catalog, count=count, told=output(as_json))
        return
    order = evaluations.EvaluationOrder(
        options=evaluations.options_of(options or ()),
        gates=[evaluations.Gate.of(each) for each in gate or ()],
        compare=compare,
        calibrates=calibrate,
        out=out,
        takes_unaccepted=unaccepted,
        is_confirmed=yes,
    )
    evaluations.evaluate(asker, questions, order, catalog=catalog, told=output(as_json))
