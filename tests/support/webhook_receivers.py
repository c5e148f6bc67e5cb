"""Receivers of webhooks: real servers on this machine, good and bad ones."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "127.0.0.1"


@dataclass
class Receiver:
    """Answers each call with the next of `statuses`, and the last of them from then on."""

    url: str = ""
    statuses: list[int] = field(default_factory=lambda: [204])
    headers: dict[str, str] = field(default_factory=dict)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def next_status(self) -> int:
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]


@contextmanager
def receiving(*, tls: ssl.SSLContext | None = None, content: bytes = b"") -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
            with suppress(OSError):  # who called has gone
                self.send_response(receiver.next_status())
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Ignore failed handshakes, which some tests cause."""

    with Server((HOST, 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.url = f"http{'s' if tls else ''}://{HOST}:{server.server_port}/hook?key=hidden"
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            serving.join()


@contextmanager
def speaking(speak: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """The URL of one that does with a connection whatever it likes, until the event is set."""
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    speak(connection, over)

    with closing(socket.create_server((HOST, 0))) as listening:
        serving = threading.Thread(target=serve)
        serving.start()
        try:
            yield f"http://{HOST}:{listening.getsockname()[1]}/hook"
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)
            serving.join()


def certificate(folder: Path, *names: str, expired: bool = False) -> Path:
    """A file of a certificate for these names, signed by itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    end = datetime.now(UTC) + timedelta(days=-1 if expired else 1)
    others = [
        x509.IPAddress(ip_address(each)) if each[0].isdigit() else x509.DNSName(each)
        for each in names
    ]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(end - timedelta(days=9))
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName(others), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / f"{'-'.join(names)}.pem"
    file.write_bytes(made.public_bytes(pem) + private)
    return file


def serving_with(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
