"""Verbs of stores that Stackroom searches itself."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import Json


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
    """Put a folder's documents into PostgreSQL with pgvector; those that are there are replaced."""
    if shared == (user is not None):
        raise typer.BadParameter("say whose they are: --user alice, or --shared for everybody's")
    if not create_tables and (reader or language != "english"):
        raise typer.BadParameter("--reader and --language are for --create-tables")
    from stackroom_local.cli import loading
    from stackroom_local.cli.console import output

    target = loading.Target(
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
    way = loading.Way(
        model=model,
        dimensions=dimensions,
        max_tokens=chunk_tokens,
        overlap_percentage=overlap,
        source=source,
    )
    loading.load(folder, target, way, told=output(as_json))
