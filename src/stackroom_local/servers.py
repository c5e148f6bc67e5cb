"""The four servers of the local mode: the command that starts each, and its health check."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from stackroom_local.clients import endpoint_variables
from stackroom_local.local_errors import command
from stackroom_local.processes import HOST, require_free
from stackroom_local.state import ACCOUNT, REGION, StateDirectory

# Where the servers of the local mode listen.


class Ports(BaseModel):
    """Four consecutive ports; the user names the first."""

    model_config = ConfigDict(frozen=True)

    aws: int

    @property
    def simulator(self) -> int:
        return self.aws + 1

    @property
    def gateway(self) -> int:
        return self.aws + 2

    @property
    def console(self) -> int:
        return self.aws + 3

    @property
    def by_name(self) -> dict[str, int]:
        """Return the ports by their servers' names, as a sentence has them."""
        return {
            "ministack": self.aws,
            "the simulator": self.simulator,
            "the gateway": self.gateway,
            "the console": self.console,
        }

    def require_free(self, *, patience: float) -> None:
        """Raise `PortTaken` if something still listens on one after `patience` seconds."""
        for name, port in self.by_name.items():
            require_free(port, name, patience=patience)


# Of the variables that name a model's endpoint (bedrock_kb_simulator.model_endpoint).
MODEL_PREFIX = "STACKROOM"
# Its key is for the simulator alone, and no function's to read.
_WITHOUT_KEY = {f"{MODEL_PREFIX}_OPENAI_API_KEY": ""}


@dataclass(frozen=True, kw_only=True)
class Server:
    name: str
    command: list[str]
    health: str  # answers 200 once it serves
    environment: Mapping[str, str] = field(default_factory=dict)
    patience: float = 60.0  # seconds until it serves


@dataclass(frozen=True)
class Servers:
    state: StateDirectory
    ports: Ports
    speed: float
    allowed_origins: tuple[str, ...] = ()  # of pages that may call the gateway, the issuer and S3
    assumed: tuple[str, ...] = ()  # options of the simulator, of what AWS leaves open
    model: ModelName = DEFAULT_MODEL  # that embeds in place of Titan

    @property
    def aws(self) -> str:
        return f"http://{HOST}:{self.ports.aws}"

    @property
    def bedrock(self) -> str:
        return f"http://{HOST}:{self.ports.simulator}"

    @property
    def agents(self) -> str:
        return f"http://{HOST}:{self.ports.gateway}"

    @property
    def console_url(self) -> str:
        return f"http://{HOST}:{self.ports.console}"

    @property
    def _console_origins(self) -> tuple[str, ...]:
        return tuple(f"http://{name}:{self.ports.console}" for name in (HOST, "localhost"))

    def ministack(self) -> Server:
        """S3, DynamoDB, SQS, EventBridge, Lambda, Step Functions, IAM, CloudFormation."""
        environment = {
            # Inherited by every function's process.
            **endpoint_variables(self.aws, self.bedrock),
            "GATEWAY_PORT": str(self.ports.aws),
            "BIND_HOST": HOST,  # it would listen on every interface otherwise
            "AUTH": "true",
            "ISSUER_URL": self.agents,  # of tokens that the stand-in of AgentCore Runtime checks
            "PAGE_ORIGINS": " ".join((*self._console_origins, *self.allowed_origins)),
            "LAMBDA_EXECUTOR": "local",
            "LAMBDA_WARM_TTL_SECONDS": "30",  # a burst's processes take memory for no longer
            "WEBHOOK_REACH": "anywhere",  # a receiver on this machine, too
            "SFN_WAIT_SCALE": f"{1 / self.speed:.6f}",
            "INGEST_SPEED": f"{self.speed:g}",  # a function's own waits
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self.state / "ministack"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self.state / "s3"),
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "MINISTACK_REGION": REGION,
            "TMPDIR": str(self.state / "tmp"),  # else it keeps files in the machine's /tmp
            **_WITHOUT_KEY,
        }
        health = f"{self.aws}/_ministack/health"
        return self._server(
            "ministack", "stackroom_local.ministack", {}, environment, health=health
        )

    def simulator(self) -> Server:
        """Bedrock and S3 Vectors; it reads the variables of `model_endpoint` as we have them."""
        options = {
            "--port": str(self.ports.simulator),
            "--data-dir": str(self.state / "simulator"),
            "--speed": f"{self.speed:g}",
            "--s3-endpoint": self.aws,
            "--sts-endpoint": self.aws,
            "--region": REGION,
            "--account": ACCOUNT,
            "--model-prefix": MODEL_PREFIX,
            "--model": self.model,
        }
        made = self._server(
            "simulator", "bedrock_kb_simulator", options, {}, health=f"{self.bedrock}/health"
        )
        # After a change of model it first embeds everything again.
        patience = 24 * 3600.0
        command = [*made.command, "--signed", *self.assumed]
        return replace(made, command=command, patience=patience)

    def gateway(self) -> Server:
        """The AgentCore Gateway's stand-in, with the tool functions and the local issuer."""
        options = {
            "--port": str(self.ports.gateway),
            "--config": str(self.state / "gateway.json"),
            "--data-dir": str(self.state / "gateway"),
            "--allow-origins": " ".join(self.allowed_origins),
        }
        return self._server(
            "gateway",
            "stackroom_local.gateway",
            options,
            {**endpoint_variables(self.aws, self.bedrock), **_WITHOUT_KEY},
            health=f"{self.agents}/.well-known/openid-configuration",
        )

    def console(self, function: str) -> Server:
        """The pages in the browser, with what is deployed for this function."""
        options = {
            "--port": str(self.ports.console),
            "--function": function,
            "--speed": f"{self.speed:g}",
            "--issuer": self.agents,
            "--gateway": f"{self.agents}/mcp",
            "--command-line": self._command_line(),
        }
        return self._server(
            "console",
            "stackroom_local.console_server",
            options,
            {**endpoint_variables(self.aws, self.bedrock), **_WITHOUT_KEY},
            health=f"{self.console_url}/sign-in",
        )

    def _command_line(self) -> str:
        """Return a command that works in a shell of any folder."""
        [program] = shlex.split(command())
        path = shlex.quote(str(Path(program).absolute())) if "/" in program else program
        return f"{path} {{}} --state-dir {shlex.quote(str(self.state.path))}"

    def _server(
        self,
        name: str,
        module: str,
        options: Mapping[str, str],
        environment: Mapping[str, str],
        *,
        health: str,
    ) -> Server:
        flat = [part for option in options.items() for part in option]
        shared = {
            **self.state.root_key.environment(),
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "PYTHONUNBUFFERED": "1",
            # Empty is unset: with nothing compiled beforehand a start takes twice as long.
            "PYTHONDONTWRITEBYTECODE": "",
        }
        return Server(
            name=name,
            # -P: whatever lies in the folder in which somebody starts us is no module of ours.
            command=[sys.executable, "-P", "-m", module, *flat],
            environment={**shared, **environment},
            health=health,
        )
