"""What a verb needs of the Stackroom that it works on, wherever that is."""

from typing import Any, Protocol


class Site(Protocol):
    """`stackroom_local.state.Instance` is one, and `stackroom_local.sites.aws.AwsSite`."""

    @property
    def bucket(self) -> str: ...

    @property
    def catalog_table(self) -> str: ...

    @property
    def control_table(self) -> str: ...

    @property
    def project(self) -> str:
        """What the names of everything deployed there begin with."""
        ...

    @property
    def speed(self) -> float:
        """How many times faster than on AWS its services' delays pass."""
        ...

    @property
    def mcp_url(self) -> str: ...

    @property
    def issuer(self) -> str:
        """Of the tokens that the MCP endpoint takes."""
        ...

    @property
    def client_id(self) -> str:
        """The public client that people sign in with."""
        ...

    @property
    def told(self) -> str:
        """For people: which one it is."""
        ...

    def client(self, service: str) -> Any:
        """The boto3 client of a service there, with the rights of whoever runs the verb."""
        ...

    def now(self) -> "Site":
        """The same, as it serves now. Raises `NotUp` once it does not serve any more."""
        ...
