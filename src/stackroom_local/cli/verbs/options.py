"""The options that several verbs have."""

from pathlib import Path
from typing import Annotated

import typer

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
Speed = Annotated[
    float, typer.Option(min=0.1, max=1000, help="How many times faster AWS's delays pass.")
]
User = Annotated[str, typer.Option("--user", "-u", help="Whose documents: the token's `sub`.")]
Groups = Annotated[
    list[str],
    typer.Option("--group", default_factory=list, help="A group of the user; repeatable."),
]
SomeUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user's.")]
CatalogName = Annotated[str, typer.Option("--catalog", "-c", help="The folder they go to.")]
CatalogId = Annotated[
    str | None, typer.Option("--catalog", "-c", help="Only this catalog: its name or id.")
]
