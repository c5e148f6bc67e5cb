"""
The caller of a command: a user of the local mode's issuer, or the person signed in to a deployment.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jwt

from stackroom.access.identity import is_session_id
from stackroom.access.tokens import TokenVerifier
from stackroom.errors import ValidationError
from stackroom.model.keys import catalog_id_of, is_user_id
from stackroom_cli.failures import WrongUsage
from stackroom_cli.json_output import DoneAnswer, TokenAnswer, WhoamiAnswer
from stackroom_cli.output import Output
from stackroom_cli.sites.known_deployments import KnownDeployments, read, remove, write
from stackroom_cli.sites.site import AwsSite, Site
from stackroom_cli.sites.site_errors import SignInNeeded
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.state import Instance

if TYPE_CHECKING:
    from stackroom_client import Client
    from stackroom_client.sign_in import SignIn

_AS_SIGNED_IN = (
    "on a deployment you act as the signed-in user: leave out --user and --group, and sign in"
    " with: stackroom --deployment {name} login"
)

_FOLLOWS_FOR = 30 * 86_400.0  # seconds: `events --follow` goes on until Ctrl-C


@dataclass(frozen=True, kw_only=True)
class Asker:
    """
    Someone who asks through the gateway.

    `user` and `groups` work in the local mode alone, whose issuer mints a token for anybody. On a
    deployment they raise WrongUsage.
    """

    site: Site
    user: str | None
    groups: Sequence[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.site, AwsSite) and (self.user is not None or self.groups):
            raise WrongUsage(_AS_SIGNED_IN.format(name=self.site.name))

    @cached_property
    def token(self) -> str:
        """Return the caller's token. Raises WrongUsage, ValidationError, or SignInNeeded."""
        if isinstance(self.site, AwsSite):
            return _token_of(self.site)
        return issuer_of(self.site).mint(
            checked(_named(self.user)), groups=self.groups, lifetime_seconds=_FOLLOWS_FOR
        )

    @cached_property
    def client(self) -> Client:
        """A client whose token is renewed as long as it works."""
        site = self.site
        if isinstance(site, AwsSite):
            return client_of(site, lambda: _token_of(site))
        return client_of(site, self.token)

    def within(self, catalog: str | None) -> dict[str, Any]:
        """
        Return the argument that narrows a tool to a catalog, given by its name or id.

        Raises ValidationError, with the name as it was typed, if the user has no such catalog.
        """
        return {} if catalog is None else {"catalog_id": self.catalog_id(catalog)}

    def catalog_id(self, catalog: str) -> str:
        user = user_of(self.site, self.token)
        wanted = catalog if catalog.startswith("cat-") else catalog_id_of(user, catalog)
        names = {each.catalog_id: each.catalog_name for each in self.client.catalogs()}
        if wanted not in names:
            renamed = (each for each, now in names.items() if catalog_id_of(user, now) == wanted)
            if (found := next(renamed, None)) is not None:
                return found
            there = ", ".join(map(repr, sorted(names.values())))
            others = f"; there are: {there}" if names else ", and no other"
            raise ValidationError(f"{user!r} has no catalog {catalog!r}{others}")
        return wanted


def client_of(site: Site, token: str | Callable[[], str]) -> Client:
    from stackroom_client import Client  # noqa: PLC0415 - takes its time

    return Client(site.mcp_url, token=token)


def sign_in_of(site: AwsSite) -> SignIn:
    from stackroom_client.sign_in import SignIn  # noqa: PLC0415 - takes its time

    store = SignInFile(KnownDeployments().sign_in_of(site.name))
    return SignIn(site.issuer, site.client_id, store=store, name=site.label)


@dataclass(frozen=True)
class SignInFile:
    """The file with the tokens of the signed-in person. Its methods raise `NotKept`."""

    path: Path

    def read(self) -> str | None:
        content = read(self.path)
        return None if content is None else content.decode("utf-8", "replace")

    def write(self, text: str | None) -> None:
        if text is None:
            remove(self.path)
        else:
            write(self.path, text.encode())


def _token_of(site: AwsSite) -> str:
    """Return the signed-in person's token. Raises SignInNeeded, or NotKept."""
    from stackroom_client.errors import NotSignedIn  # noqa: PLC0415 - takes its time

    try:
        return sign_in_of(site).token()
    except NotSignedIn as error:
        raise SignInNeeded(site.name, str(error)) from error


def user_of(site: Site, token: str) -> str:
    """Return the user that a token is for. Raises TokenRefused or IssuerUnavailable."""
    verifier = TokenVerifier(
        keys=jwt.PyJWKClient(f"{site.issuer}/.well-known/jwks.json"),
        issuer=site.issuer,
        client_ids=(site.client_id,),
        audiences=(site.mcp_url,),
    )
    return verifier.read(token).caller.user_id


def checked(user: str) -> str:
    if not is_user_id(user):
        raise ValidationError(
            f"--user {user!r} is not a user id: use 1 to 128 of A-Z, a-z, 0-9, '.', '_', '@', '+' "
            "and '-', beginning with a letter or digit"
        )
    return user


def issuer_of(instance: Instance) -> Issuer:
    return Issuer.open(instance.state_dir / "gateway", url=instance.issuer)


def _named(user: str | None) -> str:
    if user is None:
        raise WrongUsage(
            "name the user with --user, such as --user alice: the local mode has no sign-in"
        )
    return user


# login, logout, token, whoami: a user's sign-in to a deployment, and tokens.


def login(site: Site, *, browser: bool, port: int, output: Output) -> None:
    def show(address: str) -> None:
        # On standard error, since standard output is for the answer.
        if not (browser and webbrowser.open(address)):
            print(f"open this address in a browser:\n{address}", file=sys.stderr)  # noqa: T201

    tokens = sign_in_of(_deployment(site)).begin(show, port=port)
    user = user_of(site, tokens.access_token)
    output.people.print(f"{user} is signed in to {site.label}")
    output.answer(_answer(tokens.access_token))


def logout(site: Site, *, output: Output) -> None:
    was = sign_in_of(_deployment(site)).end()
    output.people.print(
        f"signed out of {site.label}" if was else f"no user was signed in to {site.label}"
    )
    output.answer(DoneAnswer(done=was))


def token(asker: Asker, *, session: str | None, minutes: int | None, output: Output) -> None:
    if session is not None and not is_session_id(session):
        raise ValidationError(
            f"--session {session!r} is not a session id: use 1 to 128 of A-Z, a-z, 0-9, '.', '_'"
            " and '-', beginning with a letter or digit"
        )
    if isinstance(asker.site, Instance):
        if asker.user is None:
            raise WrongUsage("name the token's user with --user, such as --user alice")
        minted = issuer_of(asker.site).mint(
            checked(asker.user),
            groups=asker.groups,
            session=session,
            lifetime_seconds=(minutes or 60) * 60,
        )
    elif session is not None or minutes is not None:
        raise WrongUsage("--session and --minutes work in the local mode only")
    else:
        minted = asker.token
    if output.is_json:
        output.answer(_answer(minted))
    else:
        output.tell(minted)


def whoami(site: Site, given: str | None, *, output: Output) -> None:
    """Print the user of the given token, or of the signed-in person."""
    found = given if given is not None else Asker(site=site, user=None).token
    user = user_of(site, found)
    output.people.print(f"{user}: drop files under s3://{site.bucket}/{user}/{{catalog}}/")
    output.answer(WhoamiAnswer(user_id=user, prefix=f"s3://{site.bucket}/{user}/"))


def _deployment(site: Site) -> AwsSite:
    if not isinstance(site, AwsSite):
        raise WrongUsage(
            "the local mode has no sign-in, since anyone who can read its directory may act as any "
            "user (--user); name a deployment: stackroom --deployment NAME login"
        )
    return site


def _answer(token: str) -> TokenAnswer:
    # The gateway verifies the token; here its claims are only shown.
    claims = jwt.decode(token, options={"verify_signature": False})
    return TokenAnswer(
        access_token=token,
        user_id=claims["sub"],
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
    )
