"""
The two users of a run. On AWS they are of the user pool, with an operator's credentials; whom the
local issuer has a token for is a user here, and there is nothing to make or to remove.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import jwt
from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of
from stackroom_local.cli.callers import issuer_of
from stackroom_local.sites.site import Site
from stackroom_local.sites.tools import PersonsTools
from stackroom_local.state import Instance

_ABSENT = frozenset({"UserNotFoundException", "ResourceNotFoundException"})


@dataclass(frozen=True)
class Person:
    """`user_id` is the token's `sub`, which begins their keys."""

    site: Site
    user_id: str
    token: str

    @property
    def tools(self) -> PersonsTools:
        return PersonsTools(self.site, self.token)


def made(site: Site, name: str, group: str) -> Person:
    """A new user in this group, signed in."""
    if isinstance(site, Instance):
        return Person(site, name, issuer_of(site).mint(name, groups=[group]))
    cognito, pool = site.client("cognito-idp"), _pool(site)
    user = {**pool, "Username": name}
    # Of the policy in infra/data.py: digits, capitals, symbols.
    password = f"{secrets.token_urlsafe(24)}aA1!"
    cognito.admin_create_user(**user, MessageAction="SUPPRESS")
    cognito.admin_set_user_password(**user, Password=password, Permanent=True)
    with suppress(cognito.exceptions.GroupExistsException):
        cognito.create_group(**pool, GroupName=group)
    cognito.admin_add_user_to_group(**user, GroupName=group)
    answer = cognito.admin_initiate_auth(
        **pool,
        ClientId=site.client_id,
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": password},
    )
    token = answer["AuthenticationResult"]["AccessToken"]
    claims = jwt.decode(token, options={"verify_signature": False})  # Cognito itself gave it to us
    return Person(site, claims["sub"], token)


def user_id_of(site: Site, name: str) -> str | None:
    """None for one that is gone, or was never made."""
    if isinstance(site, Instance):
        return name
    found: dict[str, Any] = {}
    with _unless_absent():
        found = site.client("cognito-idp").admin_get_user(**_pool(site), Username=name)
    told = {each["Name"]: each["Value"] for each in found.get("UserAttributes", ())}
    return told.get("sub")


def remove(site: Site, name: str, group: str) -> None:
    """With the group. Safe to repeat."""
    if isinstance(site, Instance):
        return
    cognito = site.client("cognito-idp")
    with _unless_absent():
        cognito.admin_delete_user(**_pool(site), Username=name)
    with _unless_absent():
        cognito.delete_group(**_pool(site), GroupName=group)


def _pool(site: Site) -> dict[str, str]:
    """The issuer's address ends with its id [Cognito guide: ...-verifying-a-jwt]."""
    return {"UserPoolId": site.issuer.rstrip("/").rpartition("/")[2]}


@contextmanager
def _unless_absent() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if code_of(error) not in _ABSENT:
            raise
