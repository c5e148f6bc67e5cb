"""A request as pages and API see it: who asks, and what with; all checks are behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import pydantic

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import MissingIdentity, ValidationError
from stackroom.model.records import Record
from stackroom_console.messages import gettext

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest

    from stackroom.access.identity import Caller
    from stackroom_console.console import Console
    from stackroom_console.sealed_cookies import Session
    from stackroom_console.services import ConsoleServices


@dataclass(frozen=True, kw_only=True)
class Request:
    """
    `form` is that of a page, `json` that of the API; `session` is None with a bearer token. Behind
    the `deadline` whoever asked has been told that it took too long. `handed_out` fills with the
    ids of documents whose text or file the answer gives, for the audit.
    """

    console: Console
    http: HttpRequest
    known: Caller | None = None
    session: Session | None = None
    form: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] = field(default_factory=dict)
    handed_out: list[str] = field(default_factory=list)
    deadline: Deadline = NO_DEADLINE

    @property
    def caller(self) -> Caller:
        """Raises MissingIdentity where anyone may ask, and nobody has signed in."""
        if self.known is None:
            raise MissingIdentity
        return self.known

    @property
    def user_id(self) -> str:
        return self.caller.user_id

    @property
    def services(self) -> ConsoleServices:
        return self.console.services

    @property
    def path(self) -> Mapping[str, str]:
        return self.http.path_params

    @property
    def query(self) -> Mapping[str, str]:
        return self.http.query_params

    @property
    def is_htmx(self) -> bool:
        """True if a part of a page is asked for; going back in history asks for a whole one."""
        headers = self.http.headers
        return headers.get("hx-request") == "true" and "hx-history-restore-request" not in headers

    def number(self, name: str, *, called: str, least: int, most: int, default: int) -> int:
        """
        Return a number of the form. Raises ValidationError that names the field's label and the
        range.
        """
        text = self.form.get(name, "").strip()
        if not text:
            return default
        return whole_number(called, text, least=least, most=most)


def whole_number(name: str, text: str, *, least: int, most: int) -> int:
    """Raises ValidationError that names the field and the range."""
    # Python reads no number of more than 4,300 digits.
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        allowed = gettext("%(name)s: Allowed: a whole number from %(least)s to %(most)s")
        raise ValidationError(allowed % {"name": name, "least": least, "most": f"{most:,}"})
    return int(text)


# What a program sends, as a use case takes it.

RecordT = TypeVar("RecordT", bound=Record)
_MOST_PROBLEMS = 10  # problems; a body can have thousands


def parse(
    wanted: type[RecordT], given: Mapping[str, Any], *, called: Mapping[str, str] | None = None
) -> RecordT:
    """
    Return the record of a program's or a form's fields. Raises ValidationError that names each
    wrong field and the allowed values. `called` are the labels of a form's fields.
    """
    try:
        return wanted.model_validate(given, by_alias=True, by_name=False)
    except pydantic.ValidationError as error:
        wrong = [str(each["loc"][0]) for each in error.errors()]
        labels = called or {}
        problems = [_problem(wanted, each, gettext(labels.get(each, each))) for each in wrong]
        raise ValidationError("; ".join(list(dict.fromkeys(problems))[:_MOST_PROBLEMS])) from None


def number(query: Mapping[str, str], name: str, *, least: int, most: int, default: int) -> int:
    """
    Return a number of the query. Raises ValidationError that names the parameter and the range.
    """
    return whole_number(name, query.get(name, str(default)), least=least, most=most)


def _problem(wanted: type[Record], given: str, called: str) -> str:
    by_wire_name = {each.alias or name: each for name, each in wanted.model_fields.items()}
    field = by_wire_name.get(given)
    if field is None:
        return f"{given[:100]!r}: no such field. Allowed: {', '.join(by_wire_name)}"
    return f"{called}: Allowed: {field.description or _described(field)}"


def _described(field: pydantic.fields.FieldInfo) -> str:
    """Return the description within the union that an optional field is."""
    inner = field.annotation
    for member in getattr(inner, "__args__", ()):
        for each in getattr(member, "__metadata__", ()):
            if isinstance(each, pydantic.fields.FieldInfo) and each.description:
                return each.description
    raise AssertionError("every field says what is allowed")
