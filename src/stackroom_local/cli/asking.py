"""ask, retrieve, token, whoami: the agent's side, over MCP through the gateway."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jwt
from rich.console import Console
from rich.markup import escape

from stackroom.errors import ValidationError
from stackroom.gateway.encoding import is_encodable
from stackroom.gateway.tokens import TokenVerifier
from stackroom.identity import is_session_id, is_user_id
from stackroom_local.cli.console import console
from stackroom_local.cli.foreign import in_json, one_line
from stackroom_local.cli.usage import WrongUsage
from stackroom_local.gateway.client import call_tool
from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from stackroom_local.state import Instance, StateDirectory

TOOL = "knowledge___knowledge_base_retrieve"
_BRIEF = 2


def ask(
    state_dir: Path, question: str, *, user: str, groups: list[str], catalog: str | None, top: int
) -> None:
    instance = StateDirectory(state_dir).instance()
    given = {"query": question, "top_k": top, **_within(instance, catalog, user)}
    answer = search(instance, given, user, groups)
    print_passages(console(), answer)


# T201: what these verbs print is for programs, which want it bare, not as rich lays it out.


def retrieve(
    state_dir: Path,
    query: str,
    *,
    user: str,
    groups: list[str],
    catalog: str | None,
    top: int,
    arguments: str,
) -> None:
    instance = StateDirectory(state_dir).instance()
    given = {"query": query, "top_k": top, **_within(instance, catalog, user), **_object(arguments)}
    answer = search(instance, given, user, groups)
    print(in_json(json.dumps(answer, indent=2, ensure_ascii=False)))  # noqa: T201
    _require_success(answer)


def token(
    state_dir: Path, *, user: str, groups: list[str], session: str | None, minutes: int
) -> None:
    if session is not None and not is_session_id(session):
        raise ValidationError(
            f"--session {session!r} can't be a session: 1 to 128 of A-Z, a-z, 0-9, '.', '_' and "
            "'-', beginning with a letter or digit"
        )
    issuer = issuer_of(StateDirectory(state_dir).instance())
    minted = issuer.mint(
        checked(user), groups=groups, session=session, lifetime_seconds=minutes * 60
    )
    print(minted)  # noqa: T201


def whoami(state_dir: Path, token: str) -> None:
    instance = StateDirectory(state_dir).instance()
    issuer = instance.mcp_url.removesuffix("/mcp")
    verifier = TokenVerifier(
        keys=jwt.PyJWKClient(f"{issuer}/.well-known/jwks.json"),
        issuer=issuer,
        client_ids=(CLIENT_ID,),
    )
    user = verifier.verify(token).user_id
    console().print(f"{user}: drop files under s3://{instance.bucket}/{user}/{{catalog}}/")


def search(
    instance: Instance, arguments: dict[str, Any], user: str, groups: Sequence[str] = ()
) -> dict[str, Any]:
    """The tool's answer to a user; raises ValidationError or RetrievalFailed if it is none."""
    token = issuer_of(instance).mint(checked(user), groups=groups)
    answer = call_tool(instance.mcp_url, token, TOOL, arguments)
    assert isinstance(answer, dict), "the retrieve tool answers with an object"
    return answer


def checked(user: str) -> str:
    if not is_user_id(user):
        raise ValidationError(
            f"--user {user!r} can't be a user id: 1 to 128 of A-Z, a-z, 0-9, '.', '_', '@', '+' "
            "and '-', beginning with a letter or digit"
        )
    return user


def issuer_of(instance: Instance) -> Issuer:
    url = instance.mcp_url.removesuffix("/mcp")
    return Issuer.open(instance.state_dir / "gateway", url=url)


def print_passages(out: Console, answer: dict[str, Any], *, brief: bool = False) -> None:
    """`brief`: the first passage whole, of the others two lines."""
    _require_success(answer)
    for number, result in enumerate(answer["results"], start=1):
        out.print(
            f"[bold]\\[{number}][/bold] [cyan]{_stands(result['source'])}[/cyan]"
            f"  [dim]score {result['score']:.2f}[/dim]"
        )
        for source in result.get("other_sources", ()):
            out.print(f"    [dim]the same in[/dim] [cyan]{_stands(source)}[/cyan]")
        clip = _BRIEF if brief and number > 1 else None
        out.print(_indented(result["content"], clip), markup=False)
    if not answer["results"]:
        out.print(_nothing(answer["metadata"]))


def _nothing(metadata: dict[str, Any]) -> str:
    if "best_score_below" not in metadata:
        return "nothing found in this user's documents"
    best = f"{metadata['best_score_below']:.2f}"
    return f"nothing in this user's documents speaks to this; the nearest passage scores {best}"


def _stands(source: dict[str, Any]) -> str:
    file = escape(one_line(str(source["filename"])))
    page = f", page {source['page']}" if source.get("page") is not None else ""
    return f"{file}{page}{_section(source.get('section'))}"


def _section(heading: str | None) -> str:
    return escape(one_line(f", section {heading}")) if heading else ""


def _require_success(answer: dict[str, Any]) -> None:
    if not answer["success"]:
        raise ValidationError(f"{answer['errorType']}: {answer['error']}")


def _indented(passage: str, clip: int | None = None) -> str:
    lines = [f"    {line}" for line in passage.strip().splitlines() if line.strip()]
    return "\n".join(lines if clip is None or len(lines) <= clip else [*lines[:clip], "    ..."])


def _within(instance: Instance, catalog: str | None, user: str) -> dict[str, str]:
    """Raises ValidationError for a catalog that the user hasn't, in the words that were typed."""
    if catalog is None:
        return {}
    from stackroom_local.cli.choosing import Choosing  # noqa: PLC0415 - imports boto3 for the few
    from stackroom_local.product import Product  # noqa: PLC0415

    found = Choosing.among(Product(instance)).catalog(checked(user), catalog)
    return {"catalog_id": found.catalog_id}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongUsage(f"--arguments is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise WrongUsage("--arguments must be a JSON object")
    if not is_encodable(value):  # the client would send null, or leave the argument out
        raise WrongUsage(
            "--arguments has what JSON in UTF-8 can't carry: NaN, Infinity, a number as large as "
            "1e999, or half of a surrogate pair (\\ud800 to \\udfff)"
        )
    return value
