"""
A client for Stackroom: a user's catalogs, documents and answers, from any Python program.

    from stackroom_client import Client

    with Client("https://.../mcp", token=token) as room:
        notes = room.open_catalog("Notes")
        sent = room.upload(notes.catalog_id, "boathouse.md")
        room.wait(notes.catalog_id, [sent])
        print(room.ask("When does the boathouse open?", catalog=notes.catalog_id).text)

`AsyncClient` has the same methods. They are described in docs/client.md, and in `calls`.
"""

from stackroom_client import answers, errors
from stackroom_client.client import AsyncClient, Client
from stackroom_client.sign_in import SignIn
from stackroom_client.webhooks import verify_webhook

__all__ = ["AsyncClient", "Client", "SignIn", "answers", "errors", "verify_webhook"]
