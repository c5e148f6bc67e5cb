"""
The files of a state directory, for the commands that run in other processes.

    .stackroom/
      lock            held by the serving process, with its id; the kernel releases it
      reserve         room for what ministack writes when it stops; `unsaved` until it has
      root-key.json   the key that signs as the account's root
      instance.json   the addresses and processes     keys.json  users' S3 keys, for `stackroom env`
      ministack/ s3/  ministack's stored state        simulator/  the knowledge bases
      gateway/        the local issuer's key          logs/       one file per child
      reader          the version of the reader that has read all documents
      runtimes/       agents in AgentCore Runtime, and their logs
"""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bedrock_kb_simulator.access_keys import RootKey, write_private
from stackroom_local.clients import Clients, endpoint_variables
from stackroom_local.local_errors import AlreadyUp, NotOurs, NotUp

# The kernel's lock on an open file: gone with the process that holds it, however that ends.


def taken_soon(descriptor: int) -> bool:
    """Try for a moment to take the lock, which a command that checks it holds briefly."""
    deadline = time.monotonic() + 0.5
    while not taken(descriptor):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


ACCOUNT = "000000000000"  # ministack's default account, which its root acts in
REGION = "us-east-1"
LOOK_SECONDS = 5.0  # that whoever only looks waits for an answer: a server may hang forever


class Instance(BaseModel):
    """A running local mode: endpoints, names, and the processes that serve it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    children: dict[str, int]
    speed: float
    aws_endpoint: str
    simulator_endpoint: str
    mcp_url: str
    console_url: str | None  # None: it was left out
    bucket: str
    catalog_table: str
    control_table: str
    state_dir: Path
    patience: float = Field(default=60.0, exclude=True)  # of whoever asks: seconds for an answer

    @property
    def project(self) -> str:
        return self.control_table.removesuffix("-kb-control")

    @property
    def issuer(self) -> str:
        return self.mcp_url.removesuffix("/mcp")

    @property
    def client_id(self) -> str:
        return "stackroom-local"

    @property
    def label(self) -> str:
        return f"the local mode of {self.state_dir}"

    def client(self, service: str) -> Any:
        """Return a boto3 client with the keys of `stackroom env --operator`."""
        clients = Clients(
            aws=self.aws_endpoint,
            simulator=self.simulator_endpoint,
            key=self.root_key,
            region=REGION,
            patience=self.patience,
        )
        return clients(service)

    @property
    def root_key(self) -> RootKey:
        return StateDirectory(self.state_dir).root_key

    def within(self, seconds: float) -> "Instance":
        """Return the instance with clients that wait at most so many seconds for an answer."""
        return self.model_copy(update={"patience": seconds})

    def now(self) -> "Instance":
        return StateDirectory(self.state_dir).instance().within(self.patience)

    def environment(self) -> dict[str, str]:
        """
        Return the variables with which the AWS CLI and any SDK call this instance, as its root.
        """
        return {
            **endpoint_variables(self.aws_endpoint, self.simulator_endpoint),
            **self.root_key.environment(),
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "STACKROOM_BUCKET": self.bucket,
            "STACKROOM_MCP_URL": self.mcp_url,
            "STACKROOM_ISSUER": self.issuer,
            "STACKROOM_CLIENT": self.client_id,
            "STACKROOM_STATE_DIR": str(self.state_dir),
        }


_ROOT_KEY, _READER = "root-key.json", "reader"
# Everything that the local mode writes into its directory, but for the lock.
_OURS = frozenset(
    {
        "gateway",
        "gateway.json",
        "instance.json",
        "instance.json.new",
        "keys.json",
        "keys.json.new",
        "logs",
        "ministack",
        _READER,
        "reserve",
        _ROOT_KEY,
        f"{_ROOT_KEY}.new",
        "runtimes",
        "s3",
        "simulator",
        "tmp",
        "unsaved",
    }
)


class StateDirectory:
    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @contextlib.contextmanager
    def held(self) -> Iterator[Instance | None]:
        """
        Hold this directory for one serving process. Raises `AlreadyUp` if another has it.

        Yields the record of a killed process, whose servers may still be ending.
        """
        self._claim()
        os.umask(0o077)  # our servers', too: what they write here is for nobody else to read
        with (self / "lock").open("a") as lock:
            if not taken_soon(lock.fileno()):
                raise AlreadyUp(self.path, self.holder())
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            self.ensure_root_key()
            left_behind = self._recorded()
            (self / "instance.json").unlink(missing_ok=True)
            try:
                yield left_behind
            finally:
                (self / "instance.json").unlink(missing_ok=True)

    def _claim(self) -> None:
        """Raise `NotOurs` unless the directory is ours or empty."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            strangers = sorted(each.name for each in self.path.iterdir() if each.name not in _OURS)
        except OSError as error:
            raise NotOurs(self.path, error.strerror or str(error)) from error
        if strangers and not (self / "lock").exists():
            raise NotOurs(self.path, f"it holds other files, {strangers[0]!r} for one")
        self.path.chmod(0o700)

    def ensure_root_key(self) -> None:
        RootKey.make(self / _ROOT_KEY)

    @property
    def root_key(self) -> RootKey:
        return RootKey.kept_in(self / _ROOT_KEY)

    def is_read_by(self, reader: str) -> bool:
        """Return whether this version of the reader has read every document in the directory."""
        try:
            return (self / _READER).read_text() == reader
        except FileNotFoundError:
            return False

    def record_reader(self, reader: str) -> None:
        (self / _READER).write_text(reader)

    def record(self, instance: Instance) -> None:
        write_private(self / "instance.json", instance.model_dump_json(indent=2).encode())

    def instance(self) -> Instance:
        """Return the running instance. Raises `NotUp` if there is none yet, or `NotOurs`."""
        holder, instance = self.holder(), self._recorded()
        if instance is None or holder != instance.pid:
            raise NotUp(self.path)
        return instance

    def holder(self) -> int | None:
        """Return the id of the process that serves or is about to, or None."""
        try:
            with (self / "lock").open("r") as lock:
                return None if taken(lock.fileno()) else int(lock.read() or 0)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NotOurs(self.path, error.strerror or str(error)) from error

    def forget(self) -> None:
        """Remove our own files, and nothing that anyone else put into the directory."""
        for name in _OURS:
            entry = self / name
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink(missing_ok=True)

    def _recorded(self) -> Instance | None:
        try:
            return Instance.model_validate_json((self / "instance.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None  # never up, or recorded by another version of us


def default_state_dir() -> Path:
    return Path(os.environ.get("STACKROOM_STATE_DIR", ".stackroom"))
