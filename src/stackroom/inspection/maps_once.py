"""Place maps as they were kept once: a text in each piece; when only PDFs had one, in each page."""

from itertools import accumulate

from pydantic import AliasChoices, BaseModel, Field


class _Piece(BaseModel):
    page: int | None = Field(default=None, validation_alias=AliasChoices("page", "number"))
    section: str | None = None
    text: str


class _PlaceMap(BaseModel):
    etag: str
    pieces: tuple[_Piece, ...] = Field(validation_alias=AliasChoices("pieces", "pages"))


def as_kept_now(told: object) -> object:
    """One text, and where in it each piece begins; raises ValueError for what is no place map."""
    if not isinstance(told, dict) or "text" in told:
        return told
    once = _PlaceMap.model_validate(told)
    starts = accumulate((len(piece.text) for piece in once.pieces), initial=0)
    return {
        "etag": once.etag,
        "text": "".join(piece.text for piece in once.pieces),
        "pieces": [
            {"page": piece.page, "section": piece.section, "at": at}
            for piece, at in zip(once.pieces, starts, strict=False)
        ],
    }
