"""The command that measures how often the answers are right."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_cli.commands.options import AsUser, Groups, Json, StateDir, create_output, site_of


def evaluate(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS", help="A file of questions, one per line; see docs/evaluate.md."
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: Annotated[
        str, typer.Option("--catalog", "-c", help="The catalog to ask: its name or id.")
    ],
    user: AsUser = None,
    group: Groups,
    draft: Annotated[
        bool,
        typer.Option(
            "--draft", help="Write QUESTIONS from the catalog's documents instead, to be accepted."
        ),
    ] = False,
    count: Annotated[
        int,
        typer.Option(min=1, max=1_000, help="With --draft: the number of answerable questions."),
    ] = 30,
    kept: Annotated[
        bool,
        typer.Option(
            "--kept",
            help="Add rated questions from the console and agents to QUESTIONS instead.",
        ),
    ] = False,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=VALUE",
            help="An argument of the tool, such as min_score=0.3; repeatable.",
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Compare with that run, and say which differences are noise."
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Suggest a minimum score for these documents; asks each question again.",
        ),
    ] = False,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MEASURE=NUMBER",
            help="Exit with 1 unless it is reached: top3=90, nothing=3; repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write the run and files in TREC's formats to this folder."
        ),
    ] = None,
    unaccepted: Annotated[
        bool, typer.Option("--unaccepted", help="Also ask questions that nobody has accepted.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Accept the cost on AWS without asking.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask questions with known answers, and report how often the answers are right."""
    from stackroom_cli import evaluations, kept_questions
    from stackroom_cli.callers import Asker
    from stackroom_cli.failures import WrongUsage

    if draft and kept:
        raise WrongUsage("--draft writes a new file and --kept adds to one; use one of them")
    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    if kept:
        kept_questions.keep(asker, questions, catalog=catalog, output=create_output(as_json))
        return
    if draft:
        evaluations.draft(
            asker, questions, catalog=catalog, count=count, output=create_output(as_json)
        )
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
    evaluations.evaluate(asker, questions, order, catalog=catalog, output=create_output(as_json))
