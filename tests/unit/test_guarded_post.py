"""Whom a webhook's call may reach, and how long a bad receiver keeps us."""

import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from stackroom.catalogs.guarded_post import TOO_SLOW, Answer, GuardedPost, checked, is_public
from stackroom.errors import WebhookRefused
from tests.support.webhook_receivers import HOST, certificate, receiving, serving_with, speaking

listens = pytest.mark.processes
REFUSED = Answer(problem="address refused")
PUBLIC = "93.184.216.34"
HIDDEN = [
    *("127.0.0.1", "10.0.0.7", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
    *("100.64.0.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::1", "::", "fc00::7", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.7", "::127.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1"),
]


def found(*addresses: str) -> list[Any]:
    """The answer of `getaddrinfo`."""
    return [
        (
            socket.AF_INET6 if ":" in each else socket.AF_INET,
            socket.SOCK_STREAM,
            6,
            "",
            (each, 443, 0, 0) if ":" in each else (each, 443),
        )
        for each in addresses
    ]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Addresses that were connected to; every connection is refused."""
    wanted: list[Any] = []

    def connect(_: socket.socket, address: Any) -> None:
        wanted.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    return wanted


def test_only_addresses_of_the_internet_are_public() -> None:
    assert [each for each in HIDDEN if is_public(each)] == []
    for each in (PUBLIC, "2606:4700::1111", f"::ffff:{PUBLIC}", "64:ff9b::5db8:d822"):
        assert is_public(each)


@pytest.mark.parametrize("hidden", ["10.0.0.7", "::ffff:127.0.0.1"])
def test_a_name_with_a_private_address_among_its_addresses_is_not_called(
    hidden: str, connected: list[Any]
) -> None:
    for addresses in ((hidden,), (PUBLIC, hidden), (hidden, PUBLIC)):
        post = GuardedPost(resolve=lambda *_, addresses=addresses, **__: found(*addresses))

        assert post("https://hook.example.com/", b"", {}) == REFUSED

    assert connected == []


def test_post_connects_to_the_checked_address_despite_changed_dns(
    connected: list[Any],
) -> None:
    answers = [found(PUBLIC), found("127.0.0.1")]
    post = GuardedPost(resolve=lambda *_, **__: answers.pop(0))

    assert post("https://rebinding.example.com/", b"", {}).problem == "no connection"

    assert connected == [(PUBLIC, 443)]
    assert len(answers) == 1, "it was asked once"


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "file:///etc/passwd", "//example.com/"),
        *("https://", "https:example.com", "https:///hook", "https://exa mple.com/", "", "x"),
        *("https://alice@example.com/", "https://alice:pass@example.com/", "https://@10.0.0.7/"),
        *("https://example.com:8443/", "https://example.com:22/", "https://example.com:99999/"),
        *("https://example.com/#here", "https://example.com\\@127.0.0.1/", "https://[::1/"),
        *("https://ex\u00e4mple.com/", "https://example.com/\nHost: other", "https://%31.1/"),
        f"https://example.com/{'a' * 2048}",
        *("https://127.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/"),
        *("https://[64:ff9b::7f00:1]/", "https://[fc00::7]/", "https://0.0.0.0/", "https://0/"),
        # Decimal, octal, hexadecimal and short.
        *("https://2130706433/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://127.1/"),
        *("https://0x7f000001/", "https://169.254.43518/", "https://0251.0376.0251.0376/"),
    ],
)
def test_url_that_is_not_public_https_is_refused_and_never_called(
    url: str, connected: list[Any]
) -> None:
    with pytest.raises(WebhookRefused):
        checked(url, anywhere=False)

    post = GuardedPost(resolve=lambda *_, **__: found(PUBLIC))
    assert post(url, b"", {}) == REFUSED
    assert connected == []


def test_a_refusal_names_the_host_at_most_for_a_path_may_be_a_secret() -> None:
    with pytest.raises(WebhookRefused) as refusal:
        checked("https://10.0.0.7/hidden?key=hidden", anywhere=False)

    assert str(refusal.value) == "10.0.0.7 is 10.0.0.7, which is no public address"


@listens
def test_call_is_one_post_whose_response_body_is_not_read() -> None:
    with receiving(content=b"x" * 10_000_000) as receiver:
        answer = GuardedPost(anywhere=True)(receiver.url, b'{"a":1}', {"webhook-id": "1"})

    assert answer == Answer(status=204)
    [(headers, body)] = receiver.got
    assert body == b'{"a":1}'
    assert headers["webhook-id"] == "1"
    assert headers["host"] == receiver.url.split("/")[2]


@listens
def test_no_redirect_is_followed() -> None:
    with receiving() as inner, receiving() as receiver:
        receiver.statuses, receiver.headers = [307], {"Location": inner.url}

        answer = GuardedPost(anywhere=True)(receiver.url, b"", {})

    assert (answer, answer.is_success) == (Answer(status=307), False)
    assert inner.got == []


@listens
def test_post_uses_the_resolved_address_and_verifies_name_in_certificate(
    tmp_path: Path,
) -> None:
    file = certificate(tmp_path, "hook.example.com")
    trust = ssl.create_default_context(cafile=file)

    with receiving(tls=serving_with(file)) as receiver:
        port = int(receiver.url.split(":")[2].split("/")[0])

        def resolve(*_: object, **__: object) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (HOST, port))]

        trusting = GuardedPost(anywhere=True, resolve=resolve, trust=lambda: trust)
        answers = [
            trusting("https://hook.example.com/", b"", {}),
            trusting("https://other.example.com/", b"", {}),
            GuardedPost(anywhere=True, resolve=resolve)("https://hook.example.com/", b"", {}),
        ]

    broken = Answer(problem="certificate refused")
    assert answers == [Answer(status=204), broken, broken]
    assert receiver.got[0][0]["host"] == "hook.example.com"


@listens
def test_an_expired_certificate_is_refused(tmp_path: Path) -> None:
    file = certificate(tmp_path, HOST, expired=True)
    trust = ssl.create_default_context(cafile=file)

    with receiving(tls=serving_with(file)) as receiver:
        answer = GuardedPost(anywhere=True, trust=lambda: trust)(receiver.url, b"", {})

    assert answer == Answer(problem="certificate refused")
    assert receiver.got == []


def _silent(_: socket.socket, over: threading.Event) -> None:
    over.wait()


def _dripping(connection: socket.socket, over: threading.Event) -> None:
    """A byte of a header now and then: each read is answered in time."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not over.wait(0.02):
        connection.sendall(b"x")


def _continuing(connection: socket.socket, over: threading.Event) -> None:
    while not over.wait(0.001):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


@listens
@pytest.mark.parametrize(
    ("speak", "scheme"),
    [(_silent, "http"), (_silent, "https"), (_dripping, "http"), (_continuing, "http")],
)
def test_slow_receiver_is_given_up_within_the_time_of_the_whole_call(
    speak: Any, scheme: str
) -> None:
    with speaking(speak) as url:
        begun = time.monotonic()
        answer = GuardedPost(anywhere=True, seconds=0.5)(url.replace("http", scheme, 1), b"", {})
        took = time.monotonic() - begun

    assert answer == TOO_SLOW
    assert took < 30  # of a busy machine; without an end it would be for ever


def test_a_lookup_that_takes_too_long_is_not_waited_for() -> None:
    over = threading.Event()

    def resolve(*_: object, **__: object) -> list[Any]:
        over.wait()
        return []

    post = GuardedPost(resolve=resolve, seconds=0.1)

    assert post("https://example.com/", b"", {}) == TOO_SLOW
    over.set()


def _hanging_up(connection: socket.socket, _: threading.Event) -> None:
    connection.recv(1)


def _not_http(connection: socket.socket, _: threading.Event) -> None:
    connection.recv(65_536)
    connection.sendall(b"220 mail.example.com ESMTP\r\n")


def _flooding(connection: socket.socket, over: threading.Event) -> None:
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.is_set():
        connection.sendall(b"X-Much: " + b"x" * 100_000)


@listens
@pytest.mark.parametrize(
    ("speak", "scheme", "problem"),
    [
        (_hanging_up, "http", "no connection"),
        (_not_http, "http", "no HTTP"),
        (_flooding, "http", "no HTTP"),
        (_not_http, "https", "no TLS"),
    ],
)
def test_failed_webhook_call_is_described_in_a_few_words(
    speak: Any, scheme: str, problem: str
) -> None:
    with speaking(speak) as url:
        answer = GuardedPost(anywhere=True)(url.replace("http", scheme, 1), b"", {})

    assert answer == Answer(problem=problem)


def test_unknown_host_name_is_reported() -> None:
    def resolve(*_: object, **__: object) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "none")

    answer = GuardedPost(resolve=resolve)("https://example.com/", b"", {})

    assert answer == Answer(problem="name not found")
