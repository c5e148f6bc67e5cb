"""
What the tools take. A description states the limits, since a gateway's schema can't, and answers a
call that ignores them.
"""

import base64
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from stackroom.access.plain_text import Id, Line, Text, is_plain
from stackroom.access.tool import Arguments, by_name
from stackroom.documents.formats import SUPPORTED
from stackroom.documents.keys import MAX_CATALOG_NAME
from stackroom.tools.texts import shown
from stackroom.uploads.descriptions import MAX_FILENAME_BYTES, MAX_LIST

_LISTED = re.compile(r"(cat|doc)-[0-9a-f]{24}")
_FORMATS = ", ".join(SUPPORTED)

# Of a file within a call. The gateway's interceptor is handed the call twice, raw and parsed, and
# answers it a third time, for all of which there are 6 MB: 2 MB each, 1.5 of them a file, since
# base64 makes four bytes of three. What is left is for lines wrapped by CR LF, which are four bytes
# within JSON and six in its raw text, and for some 50 KB of headers and other arguments.
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-types.html
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-configuration.html
# [assumed: gateway.request-size]
MAX_CONTENT_BYTES = int(1.4 * 1024**2)


class CatalogArguments(Arguments):
    """A text that looks like a number is none, and "true" is no confirmation."""

    model_config = ConfigDict(strict=True)


def token_of(id_: str) -> str:
    """A `next_token` that goes on after this one; opaque, and no secret."""
    return base64.urlsafe_b64encode(id_.encode()).decode().rstrip("=")


def id_of(token: str) -> str:
    """Raises ValueError for what is none of ours."""
    padded = token + "=" * (-len(token) % 4)
    try:
        id_ = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except ValueError:  # binascii.Error and UnicodeDecodeError are such
        id_ = ""
    if not _LISTED.fullmatch(id_):
        raise ValueError("is none that was answered")
    return id_


Token = Annotated[str, Field(max_length=100), AfterValidator(id_of)]


def _single_spaced(name: str) -> str:
    """Two names that differ in the number of spaces look the same."""
    return re.sub(" +", " ", name)


def _attributes(given: Any) -> Any:
    """Names and kinds, each told by its name; what they may say is for the sidecar's rules."""
    if not isinstance(given, Mapping):
        return given
    for name, value in given.items():
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in texts):
            raise ValueError(f"{shown(str(name))!r} is neither a text nor a list of texts")
        if not all(is_plain(character) for each in (name, *texts) for character in each):
            raise ValueError(f"{shown(str(name))!r} has a line break or a control character in it")
    return given


_CATALOG = Field(description="The catalog's id, such as cat-1a2b (list_catalogs tells them).")
_DOCUMENT = Field(
    description="The document's id, such as doc-1a2b (list_catalog_documents tells them)."
)
_NEXT = Field(
    default=None,
    description="The next_token of the page before; by default the first page.",
)


class CreateCatalog(CatalogArguments):
    # Any text of that length, for what characters a name may have is told by an error of its own.
    catalog_name: Annotated[str, AfterValidator(_single_spaced)] = Field(
        max_length=MAX_CATALOG_NAME,
        description=(
            f"A descriptive name: 1 to {MAX_CATALOG_NAME} letters, digits, spaces and hyphens,"
            " unlike any other of yours, whatever its case."
        ),
    )
    description: Text = Field(
        default="", max_length=500, description="What it is for: at most 500 characters."
    )


class ListCatalogs(CatalogArguments):
    next_token: Token | None = _NEXT


class UploadToCatalog(CatalogArguments):
    catalog_id: Id = _CATALOG
    filename: Line = Field(
        max_length=MAX_FILENAME_BYTES,
        description=(
            f"The file's name with its type, one of {_FORMATS}: at most {MAX_FILENAME_BYTES}"
            " bytes. Folders may stand before it: 2026/report.pdf."
        ),
    )
    file_content: str | None = Field(
        default=None,
        description=(
            f"The file itself in base64, at most {MAX_CONTENT_BYTES / 1024**2:.1f} MB of file."
            " Left out, the answer has a link by which to upload up to 50 MB."
        ),
    )
    replace: bool = Field(
        default=False,
        description="true to overwrite a file of the same name; by default false.",
    )
    metadata: Annotated[
        dict[str, str | list[str]], BeforeValidator(_attributes), BeforeValidator(by_name)
    ] = Field(
        default_factory=dict,
        description=(
            "Searchable attributes of the document: names of a-z, 0-9, '_' and '-', each with a"
            f" text or a list of at most {MAX_LIST} texts without commas, all in all below"
            ' 1 KB: {"domain": "finance"}. The list allowed_groups names groups whose members may'
            " find the document, where that is switched on. A file that is replaced keeps none of"
            " its earlier attributes."
        ),
    )


class ListCatalogDocuments(CatalogArguments):
    catalog_id: Id = _CATALOG
    next_token: Token | None = _NEXT


# Of delete_catalog_document and download_from_catalog. (A docstring would be told to agents.)
class OfDocument(CatalogArguments):
    catalog_id: Id = _CATALOG
    document_id: Id = _DOCUMENT


class SelectCatalog(CatalogArguments):
    catalog_id: Id = Field(
        description='The id of the catalog to ask from now on, or "none" to select no catalog.'
    )


class QueryCatalog(CatalogArguments):
    query: Text = Field(
        min_length=1,
        max_length=1000,  # as Bedrock takes it [Bedrock quotas: user query size]
        description="The question, in plain language: text of 1 to 1,000 characters.",
    )
    catalog_id: Id | None = Field(
        default=None,
        description="The id of the catalog to ask; by default the one that was selected.",
    )
    num_results: int = Field(
        default=5,
        ge=1,
        le=20,
        description="How many passages to answer from at most: an integer from 1 to 20, by"
        " default 5.",
    )


class DeleteCatalog(CatalogArguments):
    catalog_id: Id = _CATALOG
    confirm: bool = Field(
        default=False,
        description="true, without quotes, to delete the catalog and every document in it for"
        " good; by default nothing is deleted, and the answer says what would be.",
    )


class GetIndexingStatus(CatalogArguments):
    catalog_id: Id = _CATALOG
