"""Where the servers of the local mode listen."""

from pydantic import BaseModel, ConfigDict

from stackroom_local.processes import require_free


class Ports(BaseModel):
    """Four in a row: what the user was told is the first one."""

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
        """With the name of whoever serves there, as a sentence has it."""
        return {
            "ministack": self.aws,
            "the simulator": self.simulator,
            "the gateway": self.gateway,
            "the console": self.console,
        }

    def require_free(self, *, patience: float) -> None:
        """Raises `PortTaken` if something still listens at one after `patience` seconds."""
        for name, port in self.by_name.items():
            require_free(port, name, patience=patience)
