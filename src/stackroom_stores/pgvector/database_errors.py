"""
Translates PostgreSQL's errors to our own, without its texts, which may repeat the question.

Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, SearchRefused

# Classes of codes, their first two characters, of what passes by itself.
_BUSY = ("53",)  # insufficient resources: connections, memory, disk
# connection, transaction rolled back, object in use, operator intervention, system error
_PASSING = ("08", "40", "55", "57", "58")
# Of a password or a token: the next connection is made with a new token.
_UNKNOWN_USER = "28"
# A server that refuses a connection tells its code to nobody [libpq: PQconnectPoll], only a text.
_TOO_MANY = (
    "too many clients already",
    "too many connections for",
    "remaining connection slots are reserved",
)


@contextmanager
def database_errors(operation: str) -> Iterator[None]:
    """
    Raise KnowledgeBaseThrottled or KnowledgeBaseUnavailable for temporary failures, or
    SearchRefused.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _translated(operation, error) from error


def is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection is gone, or was refused because the server is shutting down."""
    code = error.sqlstate
    if code is None:
        return isinstance(error, psycopg.OperationalError) or _is_garbled(error)
    return code.startswith("08") or code in ("57P01", "57P02", "57P03")


def _is_garbled(error: psycopg.Error) -> bool:
    """
    Return whether the server sent something that isn't PostgreSQL's protocol.

    libpq then has no code and gives the connection up, and psycopg raises the base class itself.
    """
    return type(error) is psycopg.DatabaseError and error.diag.sqlstate is None


def _translated(operation: str, error: psycopg.Error) -> Exception:
    code = error.sqlstate
    if code is None:
        name = type(error).__name__
        passes = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        if not passes and not _is_garbled(error):
            return SearchRefused(f"{operation} can't be asked: {name}")
        if any(text in str(error) for text in _TOO_MANY):
            return KnowledgeBaseThrottled(operation)
        return KnowledgeBaseUnavailable(operation, name)
    if code.startswith(_BUSY):
        return KnowledgeBaseThrottled(operation)
    if code.startswith((*_PASSING, _UNKNOWN_USER)):
        return KnowledgeBaseUnavailable(operation, code)
    return SearchRefused(f"{operation} answered {code}")
