"""What people ask for: deletions and retries, by the use cases behind the command line."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from functions.upload_handler.handler import UploadSettings
from stackroom.aws.use_cases import UseCases
from stackroom.errors import CatalogNotFound, DocumentNotFound
from stackroom.keys import Location, locate


@dataclass(frozen=True)
class Command:
    """`key` is a document's; of a catalog's, any key in it."""

    action: Literal["delete_document", "delete_catalog", "retry"]
    key: str


def run(command: Command, client: Callable[[str], Any], environment: Mapping[str, str]) -> None:
    place = locate(command.key)
    assert isinstance(place, Location), "people name what has its place"
    # The upload handler reads all that these need.
    use_cases = UseCases.of(UploadSettings.from_env(environment), client)
    with suppress(CatalogNotFound, DocumentNotFound):  # gone already
        match command.action:
            case "delete_document":
                use_cases.deletions.delete_document(
                    place.user_id, place.catalog_id, place.document_id
                )
            case "delete_catalog":
                use_cases.deletions.delete_catalog(place.user_id, place.catalog_id)
            case "retry":
                use_cases.retrying.retry(place.user_id, place.catalog_id)
