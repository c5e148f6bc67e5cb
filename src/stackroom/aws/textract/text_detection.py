"""Amazon Textract reads a picture of a page, in one synchronous call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.errors import ServiceRefused
from stackroom.text.text_lines import TextLine

# Errors of the picture alone [API model of textract]; another picture may be read.
_OF_PICTURE = frozenset(
    {
        "BadDocumentException",
        "DocumentTooLargeException",
        "InvalidParameterException",
        "UnsupportedDocumentException",
    }
)


@dataclass(frozen=True, kw_only=True)
class TextractDetection:
    client: Any

    def lines(self, picture: bytes) -> Sequence[TextLine]:
        """
        Return the lines of text. Raises StoreUnavailable, or ServiceRefused for any error that
        another picture would meet, too.
        """
        try:
            with store_errors():
                answer = self.client.detect_document_text(Document={"Bytes": picture})
        except ClientError as error:
            if code_of(error) in _OF_PICTURE:
                return ()
            raise ServiceRefused(error.operation_name, code_of(error)) from error
        return tuple(_lines(answer.get("Blocks", ())))


def _lines(blocks: Sequence[Mapping[str, Any]]) -> Iterator[TextLine]:
    """
    Return the lines in order. The API model has every member optional: a line without a place comes
    first.
    """
    for block in blocks:
        if block.get("BlockType") == "LINE":
            box = block.get("Geometry", {}).get("BoundingBox", {})
            yield TextLine(
                text=block.get("Text", ""),
                confidence=block.get("Confidence", 0.0),
                left=box.get("Left", 0.0),
                top=box.get("Top", 0.0),
                width=box.get("Width", 0.0),
                height=box.get("Height", 0.0),
            )
