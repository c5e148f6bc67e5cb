"""Files on their way into the documents' bucket and out of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class UploadForm:
    """To be posted to `url`: the fields first, in any order, and the file last, as `file`."""

    url: str
    fields: Mapping[str, str]


class Transfers(Protocol):
    """`attributes` are the object's metadata: names without `x-amz-meta-`, values as written."""

    def put(
        self,
        key: str,
        body: bytes,
        *,
        content_type: str,
        attributes: Mapping[str, str],
        replace: bool,
    ) -> str | None:
        """
        Write the object and answer its ETag; None, and nothing written, if one lies there that is
        not to be replaced. Of two at once one succeeds.
        """
        ...

    def form(
        self,
        key: str,
        *,
        content_type: str,
        attributes: Mapping[str, str],
        max_bytes: int,
        seconds: int,
    ) -> UploadForm:
        """
        What lets whoever has it put one object: under this key, of this type, with these
        attributes, of 1 to `max_bytes` bytes, within `seconds`. Asks nobody.
        """
        ...

    def link(self, key: str, *, filename: str, seconds: int, shown_as: str | None = None) -> str:
        """
        What lets whoever has it read the object, to be saved under this name; or to be shown by a
        browser, as of this content type. Asks nobody.
        """
        ...
