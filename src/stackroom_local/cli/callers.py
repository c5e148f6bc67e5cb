"""Who calls: a user whom the local mode has a token for, or the person who signed in on AWS."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jwt

from stackroom.errors import ValidationError
from stackroom.gateway.tokens import TokenVerifier
from stackroom.keys import catalog_id_of, is_user_id
from stackroom_local.cli.usage import WrongUsage
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.sites.aws import AwsSite
from stackroom_local.sites.site import Site
from stackroom_local.sites.tools import PersonsTools
from stackroom_local.state import Instance

_AS_SIGNED_IN = (
    "on a deployment you ask as whoever is signed in: leave --user and --group out, and sign in "
    "with: stackroom --deployment {name} login"
)


@dataclass(frozen=True, kw_only=True)
class Asker:
    """`user` and `groups` for the local mode alone, whose issuer has a token for anybody."""

    site: Site
    user: str | None
    groups: Sequence[str] = ()

    @cached_property
    def token(self) -> str:
        """Raises WrongUsage, ValidationError, or SignInNeeded."""
        if isinstance(self.site, AwsSite):
            if self.user is not None or self.groups:
                raise WrongUsage(_AS_SIGNED_IN.format(name=self.site.name))
            from stackroom_local.sites.sign_in import SignIn  # noqa: PLC0415 - takes its time

            return SignIn(self.site).tokens().access_token
        assert isinstance(self.site, Instance), "a site is one of two"
        return issuer_of(self.site).mint(checked(_named(self.user)), groups=self.groups)

    @property
    def tools(self) -> PersonsTools:
        return PersonsTools(self.site, self.token)

    def within(self, catalog: str | None) -> dict[str, Any]:
        """
        The argument that narrows a tool to a catalog, by its name or id.

        Raises ValidationError for one that the user hasn't, in the words that were typed.
        """
        return {} if catalog is None else {"catalog_id": self.catalog_id(catalog)}

    def catalog_id(self, catalog: str) -> str:
        user = user_of(self.site, self.token)
        wanted = catalog if catalog.startswith("cat-") else catalog_id_of(user, catalog)
        names = {each["catalog_id"]: each["catalog_name"] for each in self.tools.catalogs()}
        if wanted not in names:
            there = ", ".join(map(repr, sorted(names.values())))
            others = f", only {there}" if names else ", nor any other"
            raise ValidationError(f"{user!r} has no catalog {catalog!r}{others}")
        return wanted


def user_of(site: Site, token: str) -> str:
    """Whom a token speaks for there. Raises TokenRefused or IssuerUnavailable."""
    verifier = TokenVerifier(
        keys=jwt.PyJWKClient(f"{site.issuer}/.well-known/jwks.json"),
        issuer=site.issuer,
        client_ids=(site.client_id,),
    )
    return verifier.verify(token).user_id


def checked(user: str) -> str:
    if not is_user_id(user):
        raise ValidationError(
            f"--user {user!r} can't be a user id: 1 to 128 of A-Z, a-z, 0-9, '.', '_', '@', '+' "
            "and '-', beginning with a letter or digit"
        )
    return user


def issuer_of(instance: Instance) -> Issuer:
    return Issuer.open(instance.state_dir / "gateway", url=instance.issuer)


def _named(user: str | None) -> str:
    if user is None:
        raise WrongUsage("say whose they are: --user alice; the local mode has no sign-in")
    return user
