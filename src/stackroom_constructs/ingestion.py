"""How documents become chunks, in the words of Bedrock's API and of CloudFormation."""

from collections.abc import Mapping
from typing import Any

from constructs import IConstruct

from stackroom_constructs.chunking import Chunking
from stackroom_constructs.parsing import Parsing


def vector_ingestion(
    scope: IConstruct, chunking: Chunking, parsing: Parsing
) -> dict[str, Any] | None:
    """`vectorIngestionConfiguration` of CreateDataSource; None if all is Bedrock's default."""
    chosen = {
        "chunkingConfiguration": chunking.configuration,
        "parsingConfiguration": parsing.configuration(scope),
    }
    return {name: each for name, each in chosen.items() if each is not None} or None


def in_cloudformation(value: Any) -> Any:
    """The same in a template, where members are called as in the API but for a capital letter."""
    match value:
        case Mapping():
            return {
                f"{name[0].upper()}{name[1:]}": in_cloudformation(member)
                for name, member in value.items()
            }
        case list():
            return [in_cloudformation(member) for member in value]
        case _:
            return value
