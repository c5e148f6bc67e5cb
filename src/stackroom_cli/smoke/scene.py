"""The state that a run's steps share: the users, what was created, and a way to wait."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from textwrap import wrap
from typing import Any, TypeVar

import jwt
from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of
from stackroom.errors import StackroomError
from stackroom.model.records import Catalog, DataSource, Document, PoolMember
from stackroom_cli.callers import client_of, issuer_of
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_services import SiteServices
from stackroom_client import Client
from stackroom_local.state import Instance

# The files that a run drops: each says one thing that no other says.

TEXT = "lighthouse.txt"
PAGES = "harbour.pdf"
LONG = f"{'minutes-of-the-guild-of-pilots-' * 6}.pdf"  # its URI has more than 128 characters
QUESTION = "When does the ferry from Quillhaven to Ormsay leave?"
ANSWER = "06:15"  # stands on the second page of PAGES
OF_TEXT = "In which year was the lighthouse of Quillhaven lit?"
OF_LONG = "On which day do the pilots of Quillhaven meet?"
# Before and after what a page says, each more than a chunk of 300 tokens holds: so the passage with
# it begins on the same page.
_FILLER = "The log of the harbour master of Quillhaven goes on with the weather of that week. " * 28


def files() -> Mapping[str, bytes]:
    return {
        TEXT: b"The lighthouse of Quillhaven was lit for the first time in 1871.",
        PAGES: pdf(
            f"{_FILLER} The harbour of Quillhaven has nine berths. {_FILLER}",
            f"{_FILLER} The ferry from Quillhaven to Ormsay leaves at {ANSWER}. {_FILLER}",
            f"{_FILLER} In fog the bell of the pier of Quillhaven rings twice. {_FILLER}",
        ),
        LONG: pdf("The pilots of Quillhaven meet on the first Thursday of each month."),
    }


def pdf(*pages: str, size: int = 0) -> bytes:
    """
    Return a PDF of `size` bytes with one page for each text, which is ASCII without brackets.

    A comment at the beginning fills up the size.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for page in pages:
        shown = " ".join(f"({line}) '" for line in wrap(page, 90))  # characters of a line
        content = f"BT /F1 10 Tf 12 TL 50 800 Td {shown} ET"
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            f" /Contents {len(objects) + 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    short = _put_together(objects, "")
    return _put_together(objects, "-" * (size - len(short))) if size else short


def _put_together(objects: Sequence[str], comment: str) -> bytes:
    body, table = f"%PDF-1.4\n%{comment}\n", ""
    for number, each in enumerate(objects, start=1):
        table += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{each}\nendobj\n"
    count = len(objects) + 1
    return (
        f"{body}xref\n0 {count}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(body):010}\n%%EOF\n"
    ).encode("ascii")


# The two users of a run. On AWS they are of the user pool, with an operator's credentials; whom
# the local issuer has a token for is a user here, and there is nothing to make or to remove.

_ABSENT = frozenset({"UserNotFoundException", "ResourceNotFoundException"})


@dataclass(frozen=True)
class SmokeUser:
    """A user of a run. `user_id` is the token's `sub`, which begins the user's keys."""

    site: Site
    user_id: str
    token: str
    refresh_token: str | None = None  # None: the local issuer minted the token

    @cached_property
    def client(self) -> Client:
        return client_of(self.site, self.token)


def made(site: Site, name: str, group: str) -> SmokeUser:
    """Create a user in this group and sign in."""
    if isinstance(site, Instance):
        return SmokeUser(site, name, issuer_of(site).mint(name, groups=[group]))
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
    if challenge := answer.get("ChallengeName"):
        raise StepFailed(f"Cognito asks for {challenge}, too; deploy without mfa=required")
    tokens = answer["AuthenticationResult"]
    claims = claims_of(tokens["AccessToken"])
    return SmokeUser(site, claims["sub"], tokens["AccessToken"], tokens["RefreshToken"])


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a token that came from Cognito itself."""
    found: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return found


def user_id_of(site: Site, name: str) -> str | None:
    """Return a user's id, or None if the user is gone or was never created."""
    if isinstance(site, Instance):
        return name
    found: dict[str, Any] = {}
    with _unless_absent():
        found = site.client("cognito-idp").admin_get_user(**_pool(site), Username=name)
    attributes = {each["Name"]: each["Value"] for each in found.get("UserAttributes", ())}
    return attributes.get("sub")


def remove(site: Site, name: str, group: str) -> None:
    """Remove the user and the group. It is safe to repeat."""
    if isinstance(site, Instance):
        return
    cognito = site.client("cognito-idp")
    with _unless_absent():
        cognito.admin_delete_user(**_pool(site), Username=name)
    with _unless_absent():
        cognito.delete_group(**_pool(site), GroupName=group)


def _pool(site: Site) -> dict[str, str]:
    """
    Return the pool's id, which ends the issuer's address [Cognito guide: ...-verifying-a-jwt].
    """
    return {"UserPoolId": site.issuer.rstrip("/").rpartition("/")[2]}


@contextmanager
def _unless_absent() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if code_of(error) not in _ABSENT:
            raise


T = TypeVar("T")
CATALOG = "smoke"  # of the owner
_POLL_SECONDS = 1.0  # on AWS, between two checks


class AssumptionVerdict(StrEnum):
    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_SEEN = "not seen"


@dataclass(frozen=True)
class Finding:
    """A step's verdict on an assumption, and the evidence."""

    assumption: str
    verdict: AssumptionVerdict
    seen: str

    @classmethod
    def of(cls, assumption: str, seen: str, *, holds: bool) -> "Finding":
        return cls(
            assumption, AssumptionVerdict.CONFIRMED if holds else AssumptionVerdict.REFUTED, seen
        )


@dataclass(frozen=True)
class StepOutcome:
    """The outcome of a successful step: a line for people, and its findings on assumptions."""

    text: str
    findings: tuple[Finding, ...] = ()


class StepFailed(StackroomError):
    """Something is not as Stackroom promises. It may carry findings all the same."""

    def __init__(self, what: str, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__(what)
        self.findings = findings


class NotApplicable(StackroomError):
    """This site doesn't have what the step tests; the message says why."""


@dataclass(frozen=True)
class Names:
    """The names of everything a run creates, so that anyone who knows `run` can remove it."""

    run: str

    @property
    def owner(self) -> str:
        return f"stackroom-smoke-{self.run}-owner"

    @property
    def other(self) -> str:
        return f"stackroom-smoke-{self.run}-other"

    @property
    def group(self) -> str:
        return f"stackroom-smoke-{self.run}"

    @property
    def source(self) -> str:
        """The name of the data source, and of the document that belongs to nobody."""
        return f"smoke-{self.run}"


@dataclass
class Scene:
    """
    The state of a run: `people` adds the users, `drop` the catalog, and `index` its data source.
    """

    site: Site
    names: Names
    owner: SmokeUser = field(init=False)
    other: SmokeUser = field(init=False)
    catalog_id: str = ""
    dropped: int = 0  # files
    began: float = 0.0  # when all were dropped, by time.monotonic()
    measured: dict[str, float] = field(default_factory=dict)  # seconds

    def enter(self) -> None:
        self.owner = made(self.site, self.names.owner, self.names.group)
        self.other = made(self.site, self.names.other, self.names.group)

    @cached_property
    def services(self) -> SiteServices:
        return SiteServices(self.site)

    @property
    def catalog(self) -> Catalog:
        return _there(self.services.stores.catalogs.get(self.catalog_id), "the catalog")

    @property
    def source(self) -> DataSource:
        return _there(self.catalog.source, "the catalog's data source")

    @property
    def member(self) -> PoolMember:
        """The knowledge base of the pool that has the catalog."""
        wanted = self.catalog.knowledge_base_id
        pool = self.services.use_cases.pool
        found = (each for each in pool if each.knowledge_base_id == wanted)
        return _there(next(found, None), "the catalog's knowledge base")

    def documents(self) -> dict[str, Document]:
        """Return the documents by file name."""
        found = self.services.stores.documents.of_catalog(self.catalog.catalog_id)
        return {each.filename: each for each in found}

    def until(self, check: Callable[[], T], what: str, *, seconds: float) -> T:
        """Return the first true result of `look`. Raises StepFailed after `seconds`."""
        until = time.monotonic() + seconds
        while not (seen := check()):
            if time.monotonic() > until:
                raise StepFailed(f"not within {seconds:.0f} s: {what}")
            time.sleep(max(0.2, _POLL_SECONDS / self.site.speed))
        return seen


def _there(found: T | None, what: str) -> T:
    if found is None:
        raise StepFailed(f"{what} is missing")
    return found
