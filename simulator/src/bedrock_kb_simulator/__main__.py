"""
Bedrock Knowledge Bases and S3 Vectors on this machine, at one port. Without --s3-endpoint it also
serves an S3 that keeps its objects in memory. Without --data-dir nothing outlasts the server.
"""

import argparse
import contextlib
import errno
import logging
import math
import os
import re
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, get_args
from urllib.parse import urlsplit

from bedrock_kb_simulator.assumptions import CustomTells
from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from bedrock_kb_simulator.model_endpoint import PREFIX, Misconfigured, ModelEndpoint

if TYPE_CHECKING:
    from bedrock_kb_simulator.server import Configuration

_PORT = 4599
_SERVICES = (
    *("BEDROCK", "BEDROCK_AGENT", "BEDROCK_AGENT_RUNTIME", "BEDROCK_RUNTIME"),
    *("S3VECTORS", "TEXTRACT"),
)
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_CUSTOM_TELLS = "BEDROCK_KB_SIMULATOR_CUSTOM_DOCUMENTS_TELL"


def main() -> None:
    parser = _parser()
    options = parser.parse_args()
    # Imported here because `--help` answers at once.
    from bedrock_kb_simulator.multilingual import OtherWeights  # noqa: PLC0415
    from bedrock_kb_simulator.server import (  # noqa: PLC0415
        bind_listener,
        create_app,
        endpoint_of,
        make_server,
    )

    logging.basicConfig(level=logging.WARNING)
    with contextlib.ExitStack() as stack:
        if options.data_dir is None:
            folder = tempfile.TemporaryDirectory(prefix="bedrock-kb-simulator-")
            options.data_dir = Path(stack.enter_context(folder))
            # uvicorn raises the signal again once everything is closed; exiting removes the folder.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        configuration = _configuration(parser, options)
        try:
            listener = bind_listener(options.port)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            parser.error(f"port {options.port} is not available; choose another with --port")
        try:
            app = create_app(configuration, endpoint_of(listener))
        except OtherWeights as error:
            parser.error(str(error))
        _print_exports(options, listener)
        with contextlib.suppress(KeyboardInterrupt):  # raised again once everything is closed
            make_server(app).run(sockets=[listener])


def _configuration(parser: argparse.ArgumentParser, options: argparse.Namespace) -> "Configuration":
    from bedrock_kb_simulator.access_keys import RootKey  # noqa: PLC0415 - as above
    from bedrock_kb_simulator.assumptions import Assumptions  # noqa: PLC0415
    from bedrock_kb_simulator.server import Configuration  # noqa: PLC0415

    if options.signed and not options.s3_endpoint:
        parser.error("--signed needs --s3-endpoint: the built-in S3 checks no signatures")
    if options.sts_endpoint and not options.signed:
        parser.error("--sts-endpoint needs --signed: unsigned callers are unknown")
    if options.signed and not all(map(os.environ.get, _KEYS)):
        parser.error(f"--signed needs {' and '.join(_KEYS)} in the environment")
    try:
        options.data_dir.mkdir(parents=True, exist_ok=True)
        model = ModelEndpoint.of(os.environ, options.model_prefix)
    except OSError as error:
        parser.error(f"--data-dir is not usable: {error}")
    except Misconfigured as error:
        parser.error(str(error))
    return Configuration(
        embedding=options.model,
        data_dir=options.data_dir,
        s3_endpoint=options.s3_endpoint,
        speed=options.speed,
        region=options.region,
        account=options.account,
        root_key=RootKey.of_environment() if options.signed else None,
        sts_endpoint=options.sts_endpoint,
        model=model,
        assumptions=Assumptions(custom_documents_tell=options.custom_documents_tell),
    )


def _print_exports(options: argparse.Namespace, listener: socket.socket) -> None:
    """Print the variables that clients need, as exports for a shell."""
    endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
    names = [f"AWS_ENDPOINT_URL_{each}" for each in _SERVICES]
    variables = dict.fromkeys(names if options.s3_endpoint else ["AWS_ENDPOINT_URL"], endpoint)
    variables["AWS_DEFAULT_REGION"] = options.region
    if not options.signed:
        variables.update(dict.fromkeys(_KEYS, "test"))
    lines = [f"Bedrock Knowledge Bases and S3 Vectors answer at {endpoint}:"]
    lines += [f"  export {name}={value}" for name, value in variables.items()]
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bedrock-kb-simulator", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["serve"], default="serve")
    parser.add_argument(
        "--port",
        type=_port,
        default=_PORT,
        help=f"port to listen on; 0 picks a free one (default: {_PORT})",
    )
    parser.add_argument("--data-dir", type=Path, help="folder that keeps everything for later runs")
    parser.add_argument(
        "--s3-endpoint", type=_url, help="endpoint of the S3 that has the documents"
    )
    parser.add_argument(
        "--speed", type=_speed, default=1.0, help="AWS seconds per real second (default: 1)"
    )
    parser.add_argument(
        "--signed",
        action="store_true",
        help="accept only calls signed with the environment's AWS_ACCESS_KEY_ID and"
        " AWS_SECRET_ACCESS_KEY, or keys derived from them (bedrock_kb_simulator.access_keys)",
    )
    parser.add_argument(
        "--sts-endpoint",
        type=_url,
        help="STS that identifies callers, so that vector bucket policies apply; needs --signed",
    )
    parser.add_argument(
        "--model-prefix",
        default=PREFIX,
        help="prefix of the variables that name a model's endpoint, as in PREFIX_OPENAI_BASE_URL",
    )
    parser.add_argument(
        "--model",
        choices=get_args(ModelName),
        default=DEFAULT_MODEL,
        help="embedding model in place of Titan; passages of another model are embedded again",
    )
    parser.add_argument("--region", type=_matching(r"[a-z]{2}(-[a-z]+)+-\d"), default="us-east-1")
    parser.add_argument("--account", type=_matching(r"\d{12}"), default="000000000000")
    parser.add_argument(
        "--custom-documents-tell",
        type=CustomTells,
        default=os.environ.get(_CUSTOM_TELLS, CustomTells.CUSTOM_ID),
        help="how Retrieve names the source of a CUSTOM document:"
        f" {', '.join(CustomTells)} (default: {_CUSTOM_TELLS}, or custom-id)",
    )
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: use 0 to 65535")
    return int(text)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not 0 < speed < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a speed: use a number above 0")
    return speed


def _url(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.netloc:
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL, such as http://127.0.0.1:4566")
    return text


def _matching(pattern: str) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise argparse.ArgumentTypeError(f"{text!r} does not match {pattern}")
        return text

    return checked


if __name__ == "__main__":
    main()
