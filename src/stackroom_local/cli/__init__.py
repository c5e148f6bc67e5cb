"""
The command line: what there is to say, parsed; what each verb does is in the modules beside this.

They are imported when their verb runs, because boto3, the MCP client and the tables of `rich` take
longer to import than most verbs take to do their work.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackroom.errors import StackroomError
from stackroom_local.state import default_state_dir

StateDir = Annotated[
    Path,
    typer.Option(
        "--state-dir",
        default_factory=default_state_dir,
        show_default=".stackroom, or STACKROOM_STATE_DIR",
        help="Where everything that is kept is kept.",
    ),
]
User = Annotated[str, typer.Option("--user", "-u", help="Whose documents: the token's `sub`.")]
SomeUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user's.")]
CatalogName = Annotated[str, typer.Option("--catalog", "-c", help="The folder they go to.")]
CatalogId = Annotated[
    str | None, typer.Option("--catalog", "-c", help="Only this catalog: its name or id.")
]


verbs = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they would print environments and tokens
    help="Drop a file into S3 and it becomes searchable by agents. All of it on this machine.",
)


def app() -> None:
    """The console script; our own errors are their text and exit code 1, without a traceback."""
    try:
        verbs()
    except StackroomError as error:
        print(f"stackroom: {error}", file=sys.stderr)  # noqa: T201 - this is the command line
        sys.exit(1)


def _named(paths: list[str]) -> list[str]:
    """An empty path is the present folder to the system, and to nobody who left a variable out."""
    if "" in paths:
        raise typer.BadParameter("a path is empty; name a file or a folder, '.' for this one")
    return paths


def _checked(faults: str) -> str:
    if faults:
        from stackroom_local.simulator.fault_orders import chance_of

        try:
            chance_of(faults)
        except ValueError:
            raise typer.BadParameter("SEED is a whole number, RATE one from 0 to 1") from None
    return faults


@verbs.command()
def up(
    state_dir: StateDir,
    speed: Annotated[
        float, typer.Option(min=0.1, max=1000, help="How many times faster AWS's delays pass.")
    ] = 10.0,
    port: Annotated[
        int, typer.Option(min=1, max=65_533, help="First of three ports in a row.")
    ] = 4566,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget everything kept before.")] = False,
    faults: Annotated[
        str,
        typer.Option(
            metavar="SEED[:RATE]", callback=_checked, help="Let the services fail, by this seed."
        ),
    ] = "",
) -> None:
    """Serve until Ctrl-C; what was ingested is there again at the next start."""
    from stackroom_local.cli import serving

    serving.up(state_dir, speed=speed, port=port, fresh=fresh, faults=faults)


@verbs.command()
def down(state_dir: StateDir) -> None:
    """Stop what is up, wherever it was started."""
    from stackroom_local.cli import serving

    serving.down(state_dir)


@verbs.command()
def env(state_dir: StateDir) -> None:
    """Print exports for a shell: eval "$(.venv/bin/stackroom env)"."""
    from stackroom_local.cli import serving

    serving.env(state_dir)


@verbs.command()
def doctor(state_dir: StateDir) -> None:
    """Look for what could keep it from working here, and say what to do about it."""
    from stackroom_local.cli import checkup

    checkup.doctor(state_dir)


@verbs.command()
def drop(
    paths: Annotated[
        list[str],
        typer.Argument(callback=_named, help="Files, or folders with all below them."),
    ],
    state_dir: StateDir,
    user: User,
    catalog: CatalogName,
    wait: Annotated[bool, typer.Option("--wait", help="Until each is indexed or failed.")] = False,
) -> None:
    """Put files into the bucket, as `aws s3 cp` would; folders keep their structure."""
    from stackroom_local.cli import documents

    files = [Path(each) for each in paths]
    documents.drop(state_dir, files, user=user, catalog=catalog, wait=wait)


@verbs.command()
def status(
    state_dir: StateDir,
    user: SomeUser = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    pool: Annotated[
        bool, typer.Option("--pool", help="The knowledge bases: who lives, works and waits there.")
    ] = False,
) -> None:
    """Show every document and how far it has come; on a terminal, until all have settled."""
    from stackroom_local.cli import documents, pooling

    if pool:
        pooling.pool(state_dir)
    else:
        documents.status(state_dir, user=user, watch=watch)


@verbs.command()
def delete(
    state_dir: StateDir,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...",
            help="Keys, or names of files in --catalog; without any, the whole catalog.",
        ),
    ] = None,
    *,
    user: SomeUser = None,
    catalog: CatalogId = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Delete a whole catalog without asking.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Until no search finds it any more.")
    ] = True,
) -> None:
    """Remove documents, or a catalog, from the bucket and the index; prints the receipts."""
    from stackroom_local.cli import removing

    removing.delete(state_dir, targets or [], user=user, catalog=catalog, yes=yes, wait=wait)


@verbs.command()
def receipts(
    state_dir: StateDir,
    receipt_id: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    user: SomeUser = None,
) -> None:
    """Show what was deleted: searchable before, asked for, and not searchable since."""
    from stackroom_local.cli import removing

    removing.receipts(state_dir, receipt_id, user=user)


@verbs.command()
def retry(
    state_dir: StateDir,
    user: User,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...", help="Keys, or names of files in --catalog; default: all."
        ),
    ] = None,
    catalog: CatalogId = None,
) -> None:
    """Have what failed tried again, as it lies there."""
    from stackroom_local.cli import retrying

    retrying.retry(state_dir, targets or [], user=user, catalog=catalog)


@verbs.command()
def reconcile(
    state_dir: StateDir,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be mended.")
    ] = False,
) -> None:
    """Compare bucket, records and index, and mend what they tell differently."""
    from stackroom_local.cli import repairing

    repairing.reconcile(state_dir, dry_run=dry_run)


@verbs.command()
def ask(
    question: str,
    *,
    state_dir: StateDir,
    user: User,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 3,
) -> None:
    """Ask as an agent would, over MCP with the user's token: passages with file, page and score."""
    from stackroom_local.cli import asking

    asking.ask(state_dir, question, user=user, catalog=catalog, top=top)


@verbs.command()
def retrieve(
    query: str,
    *,
    state_dir: StateDir,
    user: User,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 5,
    arguments: Annotated[
        str, typer.Option("--arguments", help="More arguments of the tool, as a JSON object.")
    ] = "{}",
) -> None:
    """Print the retrieve tool's answer as JSON, as it arrives over MCP."""
    from stackroom_local.cli import asking

    asking.retrieve(state_dir, query, user=user, catalog=catalog, top=top, arguments=arguments)


@verbs.command()
def token(
    state_dir: StateDir,
    user: User,
    group: Annotated[
        list[str] | None, typer.Option(help="A group of the user; repeatable.")
    ] = None,
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="How long it lasts.")] = 60,
) -> None:
    """Print an access token of the local issuer, for any MCP client."""
    from stackroom_local.cli import asking

    asking.token(state_dir, user=user, groups=group or [], minutes=minutes)


@verbs.command()
def whoami(
    state_dir: StateDir,
    token: Annotated[
        str | None, typer.Option(help="An access token; default: read from standard input.")
    ] = None,
) -> None:
    """Tell the user of a token, and with it the prefix to drop files under."""
    from stackroom_local.cli import asking

    asking.whoami(state_dir, token or sys.stdin.read().strip())


@verbs.command()
def demo(
    speed: Annotated[
        float, typer.Option(min=0.1, max=1000, help="How many times faster AWS's delays pass.")
    ] = 20.0,
) -> None:
    """Show it all: start, drop the examples of two users, ask as an agent, stop."""
    from stackroom_local import demo as demonstration

    demonstration.run(speed=speed)
