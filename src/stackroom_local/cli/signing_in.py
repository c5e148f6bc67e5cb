"""login, logout, token, whoami: who somebody is to a deployment, and the token that says so."""

import sys
import webbrowser
from datetime import UTC, datetime

import jwt

from stackroom.errors import ValidationError
from stackroom.identity import is_session_id
from stackroom_local.cli.answers import DoneAnswer, TokenAnswer, WhoamiAnswer
from stackroom_local.cli.callers import Asker, checked, issuer_of, user_of
from stackroom_local.cli.console import Output
from stackroom_local.cli.usage import WrongUsage
from stackroom_local.sites.aws import AwsSite
from stackroom_local.sites.site import Site
from stackroom_local.state import Instance


def login(site: Site, *, browser: bool, port: int, told: Output) -> None:
    from stackroom_local.sites.sign_in import SignIn  # noqa: PLC0415 - takes its time

    def show(address: str) -> None:
        # On standard error, since standard output is for the answer.
        if not (browser and webbrowser.open(address)):
            print(f"open this address in a browser:\n{address}", file=sys.stderr)  # noqa: T201

    tokens = SignIn(_deployment(site)).begin(show, port=port)
    user = user_of(site, tokens.access_token)
    told.people.print(f"{user} is signed in to {site.told}")
    told.answer(_answer(tokens.access_token))


def logout(site: Site, *, told: Output) -> None:
    from stackroom_local.sites.sign_in import SignIn  # noqa: PLC0415 - takes its time

    was = SignIn(_deployment(site)).end()
    told.people.print(f"signed out of {site.told}" if was else "nobody was signed in")
    told.answer(DoneAnswer(done=was))


def token(asker: Asker, *, session: str | None, minutes: int | None, told: Output) -> None:
    if session is not None and not is_session_id(session):
        raise ValidationError(
            f"--session {session!r} can't be a session: 1 to 128 of A-Z, a-z, 0-9, '.', '_' and "
            "'-', beginning with a letter or digit"
        )
    if isinstance(asker.site, Instance):
        if asker.user is None:
            raise WrongUsage("say whose it is: --user alice")
        minted = issuer_of(asker.site).mint(
            checked(asker.user),
            groups=asker.groups,
            session=session,
            lifetime_seconds=(minutes or 60) * 60,
        )
    elif session is not None or minutes is not None:
        raise WrongUsage("--session and --minutes are for the local mode's own issuer")
    else:
        minted = asker.token
    if told.is_json:
        told.answer(_answer(minted))
    else:
        told.tell(minted)


def whoami(site: Site, given: str | None, *, told: Output) -> None:
    """Of a token, or of whoever is signed in."""
    found = given if given is not None else Asker(site=site, user=None).token
    user = user_of(site, found)
    told.people.print(f"{user}: drop files under s3://{site.bucket}/{user}/{{catalog}}/")
    told.answer(WhoamiAnswer(user_id=user, prefix=f"s3://{site.bucket}/{user}/"))


def _deployment(site: Site) -> AwsSite:
    if not isinstance(site, AwsSite):
        raise WrongUsage(
            "the local mode has no sign-in of its own, for whoever may read its directory may be "
            "anybody (--user); name a deployment: stackroom --deployment NAME login"
        )
    return site


def _answer(token: str) -> TokenAnswer:
    # Verified where it matters; here it is told what it says.
    claims = jwt.decode(token, options={"verify_signature": False})
    return TokenAnswer(
        access_token=token,
        user_id=claims["sub"],
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
    )
