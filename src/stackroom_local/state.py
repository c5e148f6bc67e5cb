"""
What is served from a state directory, for the verbs that run in another process.

    .stackroom/
      lock            held by the serving process, whose id it holds; the kernel lets go of it
      instance.json   where it serves, who serves     keys.json  users' S3 keys, for `stackroom env`
      ministack/ s3/  what ministack persists        simulator/  the knowledge bases
      gateway/        the local issuer's key          logs/       one file per child
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from stackroom_local import locks
from stackroom_local.endpoints import endpoint_variables
from stackroom_local.problems import AlreadyUp, NotOurs, NotUp

ACCOUNT = "000000000000"  # ministack's default account, which its root-like test/test keys act in
REGION = "us-east-1"
ACCESS_KEY = "test"
SECRET_KEY = "test"  # noqa: S105 - whoever may use this machine may know it


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
    def told(self) -> str:
        return f"the local mode of {self.state_dir}"

    def client(self, service: str) -> Any:
        """With the keys of `stackroom env --operator`."""
        # Imported here because boto3 takes longer to import than the verbs that don't need it.
        from stackroom_local.clients import client  # noqa: PLC0415 - see above

        specific = endpoint_variables(self.aws_endpoint, self.simulator_endpoint)
        variable = "AWS_ENDPOINT_URL_" + service.replace("-", "_").upper()
        return client(service, specific.get(variable, self.aws_endpoint))

    def now(self) -> "Instance":
        return StateDirectory(self.state_dir).instance()

    def environment(self) -> dict[str, str]:
        """The variables with which the AWS CLI and any SDK talk to this instance, as its root."""
        return {
            **endpoint_variables(self.aws_endpoint, self.simulator_endpoint),
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "STACKROOM_BUCKET": self.bucket,
            "STACKROOM_MCP_URL": self.mcp_url,
            "STACKROOM_STATE_DIR": str(self.state_dir),
        }


# Everything that the local mode writes into its directory, but for the lock.
_OURS = frozenset(
    {
        "aws-config",
        "gateway",
        "gateway.json",
        "instance.json",
        "instance.json.new",
        "keys.json",
        "keys.json.new",
        "logs",
        "ministack",
        "s3",
        "simulator",
        "tmp",
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
        Keeps this directory for one serving process; raises `AlreadyUp` if another has it.

        Gives what a killed process left recorded, whose servers may still be about to end.
        """
        self._claim()
        with (self / "lock").open("a") as lock:
            if not locks.taken_soon(lock.fileno()):
                raise AlreadyUp(self.path, self.holder())
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            left_behind = self._recorded()
            (self / "instance.json").unlink(missing_ok=True)
            try:
                yield left_behind
            finally:
                (self / "instance.json").unlink(missing_ok=True)

    def _claim(self) -> None:
        """Raises `NotOurs` for what is no directory of ours and no empty one either."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            strangers = sorted(each.name for each in self.path.iterdir() if each.name not in _OURS)
        except OSError as error:
            raise NotOurs(self.path, error.strerror or str(error)) from error
        if strangers and not (self / "lock").exists():
            raise NotOurs(self.path, f"it holds other files, {strangers[0]!r} for one")

    def record(self, instance: Instance) -> None:
        draft = self / "instance.json.new"
        draft.write_text(instance.model_dump_json(indent=2))
        draft.replace(self / "instance.json")

    def instance(self) -> Instance:
        """The running one; raises `NotUp` if none is up yet, `NotOurs` for what is no directory."""
        holder, instance = self.holder(), self._recorded()
        if instance is None or holder != instance.pid:
            raise NotUp(self.path)
        return instance

    def holder(self) -> int | None:
        """The process that serves or is about to, or None."""
        try:
            with (self / "lock").open("r") as lock:
                return None if locks.taken(lock.fileno()) else int(lock.read() or 0)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NotOurs(self.path, error.strerror or str(error)) from error

    def forget(self) -> None:
        """Removes what we keep here, and nothing that anyone else put into the directory."""
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
