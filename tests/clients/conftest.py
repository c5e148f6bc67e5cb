import pytest

from tests.clients.clients import Client
from tests.clients.tally import PROPERTY


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before anything can fail, so that a client counts that its fixtures let down."""
    for item in items:
        client = getattr(item, "callspec", None) and item.callspec.params.get("client")  # type: ignore[attr-defined]
        if isinstance(client, Client):
            item.user_properties.append((PROPERTY, f"{client.name} {client.version}".rstrip()))
