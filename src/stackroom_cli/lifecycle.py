"""The `up`, `down` and `env` commands: the life of the local mode."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from bedrock_kb_simulator.embedding_models import ModelName
from bedrock_kb_simulator.model_endpoint import ModelEndpoint
from stackroom_cli.json_output import DoneAnswer, ServingAnswer, VariablesAnswer
from stackroom_cli.output import Output, stopwatch
from stackroom_local.local_errors import NotKept, NotUp, StillStopping, command
from stackroom_local.ministack.disk_reserve import DiskReserve
from stackroom_local.project_files import part
from stackroom_local.servers import MODEL_PREFIX, Ports
from stackroom_local.state import Instance, StateDirectory, default_state_dir
from stackroom_local.supervisor import Announce, LocalMode, Stopped

_DOWN_SECONDS = 40.0


def up(
    state_dir: Path,
    *,
    speed: float,
    port: int,
    fresh: bool,
    context: Mapping[str, str],
    faults: str,
    allowed_origins: Sequence[str],
    assumed: Sequence[str],
    model: ModelName,
    output: Output,
) -> None:
    """
    Run the local mode until it is stopped.

    `context` is CDK context that overrides that of cdk.json, `assumed` are the simulator's options
    for behaviour that AWS leaves open, and `model` is the model that embeds.
    """
    out = output.people
    announce = stopwatch(out)
    started = time.monotonic()
    state = StateDirectory(state_dir)
    with state.held() as left_behind:
        mode = LocalMode(
            state=state,
            ports=Ports(aws=port),
            speed=speed,
            announce=announce,
            left_behind=left_behind,
            fresh=fresh,
            context=context,
            faults=faults,
            allowed_origins=tuple(allowed_origins),
            assumed=tuple(assumed),
            model=model,
        )
        try:
            with mode.running() as instance:
                _welcome(out, instance, time.monotonic() - started, model)
                output.answer(
                    ServingAnswer(
                        aws_endpoint=instance.aws_endpoint,
                        simulator_endpoint=instance.simulator_endpoint,
                        mcp_url=instance.mcp_url,
                        console_url=instance.console_url,
                        bucket=instance.bucket,
                        state_dir=str(instance.state_dir),
                    )
                )
                with closing(_beside(state, instance, announce)) as beside:
                    mode.watch(beside)
        except Stopped:
            _require_kept(state)
            announce("stopped; ingested documents are kept")


def _beside(state: StateDirectory, instance: Instance, announce: Announce) -> Generator[None]:
    """Do the work of a start that can wait until the local mode already serves."""
    # Imported here because they take a while, and whoever starts waits for none of it.
    from stackroom.text.text_ids import reader_of  # noqa: PLC0415
    from stackroom_cli.sites.site_services import SiteServices  # noqa: PLC0415

    if state.is_read_by(reader_of(SiteServices(instance).ocr)):
        return
    from stackroom_cli.older_texts import read_anew_at_start  # noqa: PLC0415

    yield from read_anew_at_start(state, instance, announce=announce)


def down(state_dir: Path, *, output: Output) -> None:
    state = StateDirectory(state_dir)
    pid = state.holder()
    if pid is None:
        raise NotUp(state.path)
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _DOWN_SECONDS
    while state.holder() == pid and time.monotonic() < deadline:
        time.sleep(0.05)
    if state.holder() == pid:
        raise StillStopping(pid, _DOWN_SECONDS)
    _require_kept(state)
    output.people.print("stopped; ingested documents are kept")
    output.answer(DoneAnswer())


def _require_kept(state: StateDirectory) -> None:
    """Raise `NotKept` if the directory was not written to disk completely."""
    if not DiskReserve(state.path).is_done:
        raise NotKept(state.path)


def env(state_dir: Path, *, user: str | None, output: Output) -> None:
    """Print the environment variables of a user, or of the operator if `user` is None."""
    instance = StateDirectory(state_dir).instance()
    variables = {**instance.environment(), **_keys(instance, user)}
    output.answer(VariablesAnswer(variables=variables))
    if output.is_json:
        return
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")  # noqa: T201 - for a shell to evaluate


def _keys(instance: Instance, user: str | None) -> dict[str, str]:
    if user is None:
        return {}
    # Imported here because boto3 takes longer to import than the rest does to run.
    from stackroom_cli.callers import checked  # noqa: PLC0415
    from stackroom_local.deployment.user_keys import UserKeys  # noqa: PLC0415

    return UserKeys(instance).of(checked(user)).environment()


def _unless_default(state_dir: Path) -> str:
    default = default_state_dir().resolve()
    return "" if state_dir == default else f" --state-dir {shlex.quote(str(state_dir))}"


def _shown(path: Path) -> str:
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


def _console(instance: Instance) -> str:
    if instance.console_url is None:
        return ""
    return f"  console  {instance.console_url}/   in a browser; sign in as any user\n"


def _models(embeds: ModelName) -> str:
    """Describe the model that embeds, and the model that writes answers."""
    endpoint = ModelEndpoint.of(os.environ, MODEL_PREFIX)
    if endpoint is None:
        answers = "answers are extracted from the passages, without a model"
    else:
        answers = f"{endpoint.model} at {endpoint.base_url.partition('?')[0]} writes answers"
    return f"{embeds} embeds; {answers}"


def _welcome(out: Console, instance: Instance, seconds: float, model: ModelName) -> None:
    stackroom, examples = command(), _shown(part("examples"))
    aws = Path(sys.executable).with_name("aws")
    lists = f"  {_shown(aws)} s3 ls s3://{instance.bucket}/alice/\n" if aws.exists() else ""
    # once evaluated, the environment tells every command which state directory is meant
    where = _unless_default(instance.state_dir)
    out.print(
        f"""
[bold]Stackroom is up[/bold] after {seconds:.1f} s, {instance.speed:g} times faster than AWS. \
Ctrl-C stops it; ingested documents are kept.

{_console(instance)}  S3       {instance.aws_endpoint}   bucket {instance.bucket}
  MCP      {instance.mcp_url}   for the tools, see docs/tools.md
  models   {escape(_models(model))}
  logs     {instance.state_dir / "logs"}

In another shell:

  eval "$({stackroom} env --user alice{where})"   # AWS SDKs and CLIs act as alice
{lists}  {stackroom} drop {examples}/alice/handbook --user alice --catalog handbook --wait
  {stackroom} status --watch                      # each document's progress
  {stackroom} ask "how many days of leave do I get?" --user alice
  {stackroom} token --user alice                  # a bearer token for any MCP client
  {stackroom} env --operator{where}   # keys that may do anything
  {stackroom} down                                # stop; --help lists all commands
""",
        markup=True,
    )
