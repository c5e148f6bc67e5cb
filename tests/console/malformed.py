"""Bodies that no endpoint takes, whatever is asked of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from stackroom_console.bodies import FORM, JSON
from stackroom_console.endpoint import Endpoint, Kind

_MULTIPART = b'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nA\r\n--b--\r\n'


@dataclass(frozen=True, kw_only=True)
class Malformed:
    told: str
    content: bytes
    of_type: str | None
    status: int = 400

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.of_type is None else {"Content-Type": self.of_type}


def malformed(endpoint: Endpoint) -> Iterator[Malformed]:
    """Some of them could be read by an endpoint of the other kind."""
    is_api = endpoint.kind is Kind.API
    own, others = (JSON, FORM) if is_api else (FORM, JSON)
    body, others_body = (b"{}", b"name=A") if is_api else (b"name=A", b"{}")
    yield Malformed(told="no type", content=body, of_type=None, status=415)
    yield Malformed(told="plain text", content=body, of_type="text/plain", status=415)
    yield Malformed(told="the other kind's", content=others_body, of_type=others, status=415)
    yield Malformed(
        told="parts", content=_MULTIPART, of_type="multipart/form-data; boundary=b", status=415
    )
    yield Malformed(
        told="too large", content=b" " * (endpoint.max_body + 1), of_type=own, status=413
    )
    for told, content in _JSON if is_api else _FORMS:
        yield Malformed(told=told, content=content, of_type=own)


_FORMS = (
    ("no UTF-8", b"name=\xff\xfe"),
    ("no UTF-8 once read", b"name=%ff%fe"),
    ("half a character", b"name=%e2%82"),
    ("half of a pair", b"name=%ed%a0%80"),
    ("a field twice", b"name=a&name=b"),
    ("too many fields", b"&".join(b"f%d=" % each for each in range(101))),
)
_JSON = (
    ("nothing of JSON", b"name=A"),
    ("broken off", b'{"name": "A"'),
    ("more behind it", b'{"name": "A"} {}'),
    ("a list", b"[]"),
    ("a text", b'"name"'),
    ("nothing", b"null"),
    ("too deep", b"[" * 60_000),
    ("too deep within", b'{"name": ' * 6_000),
    ("deep and closed", b'{"name": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
    ("a member twice", b'{"name": "A", "name": "B"}'),
    ("not a number", b'{"name": NaN}'),
    ("beyond all numbers", b'{"name": 1e999}'),
    ("more digits than are read", b'{"name": ' + b"9" * 5_000 + b"}"),
    ("half of a pair", b'{"name": "\\ud800"}'),
    ("a name that is half of a pair", b'{"\\udfff": 1}'),
    ("no UTF-8", b'{"name": "\xff"}'),
    ("NUL", b'{"name": "\x00"}'),
)
