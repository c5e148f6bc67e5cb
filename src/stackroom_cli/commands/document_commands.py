"""Commands that upload documents, show their progress, ask about them, and delete them."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_cli.commands.options import (
    AsUser,
    CatalogId,
    CatalogName,
    Everybody,
    Groups,
    Json,
    Owner,
    SomeUser,
    StateDir,
    User,
    create_output,
    is_ones_own,
    site_of,
)
from stackroom_cli.failures import WrongUsage
from stackroom_local.state import LOOK_SECONDS


def _named(path: str) -> Path:
    """
    Refuse an empty path, which the system takes for the current folder.

    It usually comes from a variable that was not set.
    """
    if not path:
        raise typer.BadParameter(
            "a path is empty; name a file or a folder ('.' is the current one)"
        )
    return Path(path)


def drop(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS", parser=_named, help="Files, or folders with everything below them."
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: CatalogName,
    user: Owner = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until each is indexed or failed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Upload files to the bucket; folders keep their structure."""
    from stackroom_cli import operator_documents, own_documents
    from stackroom_cli.own_documents import SignedInPerson

    site, output = site_of(state_dir), create_output(as_json)
    if user is None:
        own_documents.drop(
            SignedInPerson.at(site), paths, catalog=catalog, wait=wait, output=output
        )
    else:
        operator_documents.drop(site, paths, user=user, catalog=catalog, wait=wait, output=output)


def adopt(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="s3://BUCKET/PREFIX, or a local folder.")
    ],
    *,
    state_dir: StateDir,
    user: User,
    catalog: CatalogName,
    is_applied: Annotated[
        bool, typer.Option("--apply/--dry-run", help="Copy, or only show what would happen.")
    ] = False,
    moves: Annotated[
        bool, typer.Option("--move", help="Delete adopted files from the source.")
    ] = False,
    as_json: Json = False,
) -> None:
    """
    Copy files with AWS's `.metadata.json` sidecars, whose attributes become Stackroom's.

    An interrupted run can be repeated: files that are in the catalog already stay as they are.
    """
    from stackroom_cli import adoption_report

    adoption_report.adopt(
        site_of(state_dir),
        source,
        user=user,
        catalog=catalog,
        is_applied=is_applied,
        moves=moves,
        output=create_output(as_json),
    )


def status(
    *,
    state_dir: StateDir,
    user: SomeUser = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Keep watching until Ctrl-C.")
    ] = False,
    until_settled: Annotated[
        bool, typer.Option("--until-settled", help="Keep watching until each is indexed or failed.")
    ] = False,
    pool: Annotated[
        bool,
        typer.Option(
            "--pool",
            help="Show the knowledge bases with their catalogs, active runs and queues instead.",
        ),
    ] = False,
    everybody: Everybody = False,
    as_json: Json = False,
) -> None:
    """
    Show documents and their progress; on a terminal, until all have settled.

    A catalog with 200 documents or more shows only those that are pending or failed.
    """
    from stackroom_cli import operator_documents, own_documents, pool_status
    from stackroom_cli.own_documents import SignedInPerson

    site, output = site_of(state_dir, seconds=LOOK_SECONDS), create_output(as_json)
    if pool:
        pool_status.pool(site, output=output)
    elif is_ones_own(user, everybody=everybody):
        person = SignedInPerson.at(site)
        own_documents.status(person, watch=watch, until_settled=until_settled, output=output)
    else:
        operator_documents.status(
            site, user=user, watch=watch, until_settled=until_settled, output=output
        )


def delete(
    state_dir: StateDir,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...",
            help="Keys, or file names in --catalog; without any, the whole catalog.",
        ),
    ] = None,
    *,
    user: SomeUser = None,
    catalog: CatalogId = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Delete a whole catalog without asking.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until no search finds them any more.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Delete documents or a whole catalog, and print the receipts."""
    from stackroom_cli import deletion, own_documents
    from stackroom_cli.own_documents import SignedInPerson

    site, output = site_of(state_dir), create_output(as_json)
    if is_ones_own(user):
        person = SignedInPerson.at(site)
        own_documents.delete(
            person, targets or [], catalog=catalog, yes=yes, wait=wait, output=output
        )
        return
    deletion.delete(
        site,
        targets or [],
        user=user,
        catalog=catalog,
        yes=yes,
        wait=wait,
        output=output,
    )


def receipts(
    state_dir: StateDir,
    receipt_id: Annotated[str | None, typer.Argument(help="Show only this receipt.")] = None,
    user: SomeUser = None,
    as_json: Json = False,
) -> None:
    """Show receipts of deleted or lost documents, with the time since when no search finds them."""
    from stackroom_cli import deletion

    deletion.receipts(site_of(state_dir), receipt_id, user=user, output=create_output(as_json))


def catalogs(
    state_dir: StateDir, user: SomeUser = None, everybody: Everybody = False, as_json: Json = False
) -> None:
    """List catalogs with their sizes and statuses."""
    from stackroom_cli import operator_documents, own_documents
    from stackroom_cli.own_documents import SignedInPerson

    site, output = site_of(state_dir), create_output(as_json)
    if is_ones_own(user, everybody=everybody):
        own_documents.catalogs(SignedInPerson.at(site), output=output)
    else:
        operator_documents.catalogs(site, user=user, output=output)


def retry(
    state_dir: StateDir,
    user: User,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...", help="Keys, or file names in --catalog; by default all."
        ),
    ] = None,
    catalog: CatalogId = None,
    as_json: Json = False,
) -> None:
    """Retry failed documents with the files that are in the bucket."""
    from stackroom_cli import operator_documents

    site = site_of(state_dir)
    operator_documents.retry(
        site, targets or [], user=user, catalog=catalog, output=create_output(as_json)
    )


def reread(
    state_dir: StateDir,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...",
            help="Keys, or file names in --catalog; by default all that need it.",
        ),
    ] = None,
    user: SomeUser = None,
    catalog: CatalogId = None,
    as_json: Json = False,
) -> None:
    """Extract documents' texts again: of those named, or of all that an older version read."""
    from stackroom_cli import older_texts

    site = site_of(state_dir)
    older_texts.reread(
        site, targets or [], user=user, catalog=catalog, output=create_output(as_json)
    )


def reconcile(
    state_dir: StateDir,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be repaired.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare bucket, records and index, and repair the differences."""
    from stackroom_cli import run_reconciler

    run_reconciler.reconcile(site_of(state_dir), dry_run=dry_run, output=create_output(as_json))


# Commands of the agent: questions with a user's token.


def ask(
    question: str,
    *,
    state_dir: StateDir,
    user: AsUser = None,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="Number of passages.")] = 3,
    as_json: Json = False,
) -> None:
    """Ask as an agent would, over MCP, and print the passages with file, page and score."""
    from stackroom_cli import retrieve_tool
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    retrieve_tool.ask(asker, question, catalog=catalog, top=top, output=create_output(as_json))


def retrieve(
    query: str,
    *,
    state_dir: StateDir,
    user: AsUser = None,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="Number of passages.")] = 5,
    arguments: Annotated[
        str, typer.Option("--arguments", help="Further arguments of the tool, as a JSON object.")
    ] = "{}",
    as_json: Json = False,
) -> None:
    """Print the search tool's answer in JSON, as an agent gets it over MCP."""
    from stackroom_cli import retrieve_tool
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    output = create_output(as_json)
    retrieve_tool.retrieve(
        asker, query, catalog=catalog, top=top, arguments=arguments, output=output
    )


def events(
    *,
    state_dir: StateDir,
    user: AsUser = None,
    catalog: CatalogId = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep watching until Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what happened to catalogs, documents and deletions in the last seven days."""
    from stackroom_cli import own_events
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user)
    own_events.events(asker, catalog=catalog, follow=follow, output=create_output(as_json))


def passages(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=_named,
            help="A local file, or with --catalog a file's name there.",
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: Annotated[
        str | None,
        typer.Option("--catalog", "-c", help="Show a document of this catalog, by its name or id."),
    ] = None,
    user: AsUser = None,
    group: Groups,
    chunk_tokens: Annotated[int, typer.Option(min=1, max=8192, help="Size of a passage.")] = 300,
    overlap: Annotated[
        int, typer.Option(min=0, max=99, help="Overlap of neighbouring passages, in percent.")
    ] = 20,
    whole_text: Annotated[
        bool, typer.Option("--text", help="Print only the whole text, in Markdown.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a file's indexed text, cut into passages, and its gaps."""
    if whole_text and as_json:
        raise typer.BadParameter("--text prints only the text; leave out --text or --json")
    from bedrock_kb_simulator.chunk_strategies import Chunking
    from stackroom_cli import document_lookup, passage_inspection
    from stackroom_cli.callers import Asker

    chunking = Chunking(max_tokens=chunk_tokens, overlap_percentage=overlap)
    if catalog is None:
        if user is not None or group:
            raise WrongUsage("--user and --group require --catalog")
        name = file.name
        text = passage_inspection.text_in(passage_inspection.body_at(file), name)
    else:
        asker, name = Asker(site=site_of(state_dir), user=user, groups=group), str(file)
        document = document_lookup.document_of(asker, catalog, name)
        kept = document_lookup.kept_text(asker, document)
        text = kept or passage_inspection.text_in(document_lookup.downloaded(asker, document), name)
    if whole_text:
        passage_inspection.whole_text(text)
    else:
        passage_inspection.passages(text, name, chunking=chunking, output=create_output(as_json))


# Commands of stores that Stackroom searches itself.


def load(
    folder: Annotated[Path, typer.Argument(help="A folder, with everything below it.")],
    *,
    to: Annotated[
        str,
        typer.Option(metavar="URL", help="The database: postgresql://USER@HOST:PORT/DATABASE."),
    ],
    knowledge_base: Annotated[
        str,
        typer.Option(
            "--knowledge-base", "-k", help="The knowledge base's id; created if it doesn't exist."
        ),
    ],
    user: Annotated[str | None, typer.Option("--user", "-u", help="The documents' owner.")] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Share the documents with everybody.")
    ] = False,
    create_tables: Annotated[
        bool, typer.Option("--create-tables", help="Create missing tables first.")
    ] = False,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="With --create-tables: a database user who may search; repeatable."),
    ] = None,
    language: Annotated[
        str, typer.Option(help="With --create-tables: the documents' language, or `simple`.")
    ] = "english",
    schema: Annotated[str, typer.Option(help="The tables' schema.")] = "public",
    local: Annotated[
        bool,
        typer.Option(
            "--local", help="Use neither TLS nor an IAM token, for a server on this machine."
        ),
    ] = False,
    ssl_root_cert: Annotated[
        Path | None, typer.Option(help="AWS's global-bundle.pem, to verify the server.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="The Bedrock model that embeds.")
    ] = "amazon.titan-embed-text-v2:0",
    dimensions: Annotated[
        int, typer.Option(min=1, max=2000, help="Dimensions of the vectors.")
    ] = 1024,
    chunk_tokens: Annotated[int, typer.Option(min=1, max=8192, help="Size of a passage.")] = 300,
    overlap: Annotated[
        int, typer.Option(min=0, max=99, help="Overlap of neighbouring passages, in percent.")
    ] = 20,
    source: Annotated[
        str | None,
        typer.Option(metavar="URI", help="The folder's URI in passages; by default FOLDER."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Load a folder's documents into PostgreSQL with pgvector, replacing earlier versions."""
    if shared == (user is not None):
        raise typer.BadParameter("name the owner: --user alice, or --shared for everybody")
    if not create_tables and (reader or language != "english"):
        raise typer.BadParameter("--reader and --language require --create-tables")
    from stackroom_cli import pgvector_load

    target = pgvector_load.LoadTarget(
        url=to,
        knowledge_base_id=knowledge_base,
        user=user,
        schema=schema,
        is_local=local,
        makes_tables=create_tables,
        readers=tuple(reader or ()),
        language=language,
        **({} if ssl_root_cert is None else {"ssl_root_cert": str(ssl_root_cert)}),
    )
    way = pgvector_load.Way(
        model=model,
        dimensions=dimensions,
        max_tokens=chunk_tokens,
        overlap_percentage=overlap,
        source=source,
    )
    pgvector_load.load(folder, target, way, output=create_output(as_json))


# The command that shows the figures of the dashboard.


def dashboard(
    state_dir: StateDir,
    hours: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=24 * 14, help="Hours to show; by default those of the dashboard."
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Keep watching until Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the deployed CloudWatch dashboard: its alarms, and the lines of each widget."""
    if watch and as_json:
        raise typer.BadParameter("--json prints once; leave out --watch or --json")
    from stackroom_cli import dashboard as shown

    shown.dashboard(site_of(state_dir), hours=hours, watch=watch, output=create_output(as_json))
