"""Verbs that upload documents, show their progress, ask about them, and delete them."""

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
    is_ones_own,
    output,
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
        raise typer.BadParameter("a path is empty; name a file or a folder, '.' for this one")
    return Path(path)


def drop(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS", parser=_named, help="Files, or folders with all below them."
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: CatalogName,
    user: Owner = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until each is indexed or failed.")] = False,
    as_json: Json = False,
) -> None:
    """Upload files to the bucket, as `aws s3 cp` would; folders keep their structure."""
    from stackroom_cli import operator_documents, own_documents
    from stackroom_cli.own_documents import SignedInPerson

    site, told = site_of(state_dir), output(as_json)
    if user is None:
        own_documents.drop(SignedInPerson.at(site), paths, catalog=catalog, wait=wait, told=told)
    else:
        operator_documents.drop(site, paths, user=user, catalog=catalog, wait=wait, told=told)


def adopt(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="s3://BUCKET/PREFIX, or a folder here.")
    ],
    *,
    state_dir: StateDir,
    user: User,
    catalog: CatalogName,
    is_applied: Annotated[
        bool, typer.Option("--apply/--dry-run", help="Do it, or only show what would happen.")
    ] = False,
    moves: Annotated[
        bool, typer.Option("--move", help="Delete what was adopted from the source.")
    ] = False,
    as_json: Json = False,
) -> None:
    """
    Copy files with the `.metadata.json` that AWS documents; their attributes become Stackroom's.

    What was cut off can be repeated: what lies in the catalog already is left as it is.
    """
    from stackroom_cli import adoption_report

    adoption_report.adopt(
        site_of(state_dir),
        source,
        user=user,
        catalog=catalog,
        is_applied=is_applied,
        moves=moves,
        told=output(as_json),
    )


def status(
    *,
    state_dir: StateDir,
    user: SomeUser = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    until_settled: Annotated[
        bool, typer.Option("--until-settled", help="Keep showing until each is indexed or failed.")
    ] = False,
    pool: Annotated[
        bool,
        typer.Option(
            "--pool", help="The knowledge bases: their catalogs, who is at work and who waits."
        ),
    ] = False,
    everybody: Everybody = False,
    as_json: Json = False,
) -> None:
    """
    Show documents and their progress; on a terminal, until all have settled.

    Of a catalog with 200 documents or more, only those that are pending or failed.
    """
    from stackroom_cli import operator_documents, own_documents, pool_status
    from stackroom_cli.own_documents import SignedInPerson

    site, told = site_of(state_dir, seconds=LOOK_SECONDS), output(as_json)
    if pool:
        pool_status.pool(site, told=told)
    elif is_ones_own(user, everybody=everybody):
        person = SignedInPerson.at(site)
        own_documents.status(person, watch=watch, until_settled=until_settled, told=told)
    else:
        operator_documents.status(
            site, user=user, watch=watch, until_settled=until_settled, told=told
        )


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
    as_json: Json = False,
) -> None:
    """Delete documents, or a catalog, from the bucket and the index; prints the receipts."""
    from stackroom_cli import deletion, own_documents
    from stackroom_cli.own_documents import SignedInPerson

    site, told = site_of(state_dir), output(as_json)
    if is_ones_own(user):
        person = SignedInPerson.at(site)
        own_documents.delete(person, targets or [], catalog=catalog, yes=yes, wait=wait, told=told)
        return
    deletion.delete(
        site,
        targets or [],
        user=user,
        catalog=catalog,
        yes=yes,
        wait=wait,
        told=told,
    )


def receipts(
    state_dir: StateDir,
    receipt_id: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    user: SomeUser = None,
    as_json: Json = False,
) -> None:
    """Show receipts of deleted or lost documents: last searchable, requested, not found since."""
    from stackroom_cli import deletion

    deletion.receipts(site_of(state_dir), receipt_id, user=user, told=output(as_json))


def catalogs(
    state_dir: StateDir, user: SomeUser = None, everybody: Everybody = False, as_json: Json = False
) -> None:
    """List catalogs, their numbers of documents, and whether they are ready."""
    from stackroom_cli import operator_documents, own_documents
    from stackroom_cli.own_documents import SignedInPerson

    site, told = site_of(state_dir), output(as_json)
    if is_ones_own(user, everybody=everybody):
        own_documents.catalogs(SignedInPerson.at(site), told=told)
    else:
        operator_documents.catalogs(site, user=user, told=told)


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
    as_json: Json = False,
) -> None:
    """Retry failed documents with the files that are in the bucket."""
    from stackroom_cli import operator_documents

    site = site_of(state_dir)
    operator_documents.retry(site, targets or [], user=user, catalog=catalog, told=output(as_json))


def reread(
    state_dir: StateDir,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...",
            help="Keys, or names of files in --catalog; default: all that need it.",
        ),
    ] = None,
    user: SomeUser = None,
    catalog: CatalogId = None,
    as_json: Json = False,
) -> None:
    """Reread documents: those named, or all without a text of the current reader."""
    from stackroom_cli import older_texts

    site = site_of(state_dir)
    older_texts.reread(site, targets or [], user=user, catalog=catalog, told=output(as_json))


def reconcile(
    state_dir: StateDir,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be mended.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare bucket, records and index, and repair the differences."""
    from stackroom_cli import run_reconciler

    run_reconciler.reconcile(site_of(state_dir), dry_run=dry_run, told=output(as_json))


# Verbs of the agent: questions with a user's token.


def ask(
    question: str,
    *,
    state_dir: StateDir,
    user: AsUser = None,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 3,
    as_json: Json = False,
) -> None:
    """Ask as an agent would, over MCP; prints passages with file, page and score."""
    from stackroom_cli import retrieve_tool
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    retrieve_tool.ask(asker, question, catalog=catalog, top=top, told=output(as_json))


def retrieve(
    query: str,
    *,
    state_dir: StateDir,
    user: AsUser = None,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 5,
    arguments: Annotated[
        str, typer.Option("--arguments", help="More arguments of the tool, as a JSON object.")
    ] = "{}",
    as_json: Json = False,
) -> None:
    """Print the retrieve tool's answer as JSON, as it arrives over MCP."""
    from stackroom_cli import retrieve_tool
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    told = output(as_json)
    retrieve_tool.retrieve(asker, query, catalog=catalog, top=top, arguments=arguments, told=told)


def events(
    *,
    state_dir: StateDir,
    user: AsUser = None,
    catalog: CatalogId = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing.")] = False,
    as_json: Json = False,
) -> None:
    """Show what happened to catalogs, documents and deletions in the last seven days."""
    from stackroom_cli import own_events
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user)
    own_events.events(asker, catalog=catalog, follow=follow, told=output(as_json))


def passages(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=_named,
            help="As it would be dropped; with --catalog, its name there.",
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: Annotated[
        str | None,
        typer.Option("--catalog", "-c", help="The document lies there: a catalog's name or id."),
    ] = None,
    user: AsUser = None,
    group: Groups,
    chunk_tokens: Annotated[int, typer.Option(min=1, max=8192, help="Of a passage.")] = 300,
    overlap: Annotated[int, typer.Option(min=0, max=99, help="Of neighbours, in percent.")] = 20,
    whole_text: Annotated[
        bool, typer.Option("--text", help="Print the whole text in Markdown, and nothing else.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a file's indexed text, cut into passages, and its gaps."""
    if whole_text and as_json:
        raise typer.BadParameter("--text prints the text alone; leave out --text, or --json")
    from bedrock_kb_simulator.chunk_strategies import Chunking
    from stackroom_cli import document_lookup, passage_inspection
    from stackroom_cli.callers import Asker

    chunking = Chunking(max_tokens=chunk_tokens, overlap_percentage=overlap)
    if catalog is None:
        if user is not None or group:
            raise WrongUsage("--user and --group are for a document that lies in a --catalog")
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
        passage_inspection.passages(text, name, chunking=chunking, told=output(as_json))


# Verbs of stores that Stackroom searches itself.


def load(
    folder: Annotated[Path, typer.Argument(help="A folder, with all below it.")],
    *,
    to: Annotated[
        str,
        typer.Option(metavar="URL", help="The database: postgresql://USER@HOST:PORT/DATABASE."),
    ],
    knowledge_base: Annotated[
        str, typer.Option("--knowledge-base", "-k", help="Its id; made if there is none.")
    ],
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Whose documents they are.")
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="They are everybody's.")] = False,
    create_tables: Annotated[
        bool, typer.Option("--create-tables", help="Make what is missing of the tables first.")
    ] = False,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="With --create-tables: a database user who is to search; repeatable."),
    ] = None,
    language: Annotated[
        str, typer.Option(help="With --create-tables: of the documents' words, or `simple`.")
    ] = "english",
    schema: Annotated[str, typer.Option(help="Where the tables are.")] = "public",
    local: Annotated[
        bool,
        typer.Option("--local", help="The server is on this machine: no TLS, no token of IAM."),
    ] = False,
    ssl_root_cert: Annotated[
        Path | None, typer.Option(help="AWS's global-bundle.pem, to verify the server by.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="Of Bedrock's, to embed with.")
    ] = "amazon.titan-embed-text-v2:0",
    dimensions: Annotated[int, typer.Option(min=1, max=2000, help="Of the vectors.")] = 1024,
    chunk_tokens: Annotated[int, typer.Option(min=1, max=8192, help="Of a passage.")] = 300,
    overlap: Annotated[int, typer.Option(min=0, max=99, help="Of neighbours, in percent.")] = 20,
    source: Annotated[
        str | None,
        typer.Option(metavar="URI", help="Where passages say the folder lies; by default FOLDER."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Load a folder's documents into PostgreSQL with pgvector, replacing earlier versions."""
    if shared == (user is not None):
        raise typer.BadParameter("say whose they are: --user alice, or --shared for everybody's")
    if not create_tables and (reader or language != "english"):
        raise typer.BadParameter("--reader and --language are for --create-tables")
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
    pgvector_load.load(folder, target, way, told=output(as_json))


# The verb that shows the figures of the dashboard.


def dashboard(
    state_dir: StateDir,
    hours: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=24 * 14, help="How far back; default: as far as the dashboard says."
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    as_json: Json = False,
) -> None:
    """Show the deployed CloudWatch dashboard: its alarms, and the lines of each widget."""
    if watch and as_json:
        raise typer.BadParameter("--json prints once; leave out --watch, or --json")
    from stackroom_cli import dashboard as shown

    shown.dashboard(site_of(state_dir), hours=hours, watch=watch, told=output(as_json))
