"""
Calls of PDFium that are made for each word or object of a page.

pypdfium2's own bindings make an object of each pointer that goes in or out, which takes three times
as long: a page of a quarterly report has 500 words in 2,800 objects.
"""

import struct
from ctypes import CFUNCTYPE, addressof, c_int, c_void_p, cast, create_string_buffer
from typing import Any

from pypdfium2 import raw

Box = tuple[float, float, float, float]  # left, bottom, right, top in points, as the page has them
Colour = tuple[int, int, int, int]  # red, green, blue, alpha

_POINTER = c_void_p
_box, _colour, _matrix, _shape = (create_string_buffer(size) for size in (16, 16, 24, 32))
_BOX_AT, _COLOUR_AT, _MATRIX_AT = map(addressof, (_box, _colour, _matrix))
_SHAPE_PARTS = tuple(addressof(_shape) + 8 * each for each in range(4))
_UNPACK_BOX, _UNPACK_COLOUR = struct.Struct("4f").unpack_from, struct.Struct("4I").unpack_from
_BOX_PARTS = tuple(_BOX_AT + 4 * each for each in range(4))
_COLOUR_PARTS = tuple(_COLOUR_AT + 4 * each for each in range(4))


def _call(function: Any, *arguments: Any, returns: Any = c_int) -> Any:
    return CFUNCTYPE(returns, *arguments)(cast(function, _POINTER).value or 0)


def address(handle: Any) -> int:
    """Return the number by which the calls below know what pypdfium2 has a handle of."""
    return cast(handle, _POINTER).value or 0


get_object = _call(raw.FPDFPage_GetObject, _POINTER, c_int, returns=_POINTER)
get_object_of_form = _call(raw.FPDFFormObj_GetObject, _POINTER, c_int, returns=_POINTER)
count_objects = _call(raw.FPDFPage_CountObjects, _POINTER)
count_objects_of_form = _call(raw.FPDFFormObj_CountObjects, _POINTER)
get_type = _call(raw.FPDFPageObj_GetType, _POINTER)
count_characters = _call(raw.FPDFText_CountChars, _POINTER)
character_at = _call(raw.FPDFText_GetCharIndexFromTextIndex, _POINTER, c_int)
get_text_object = _call(raw.FPDFText_GetTextObject, _POINTER, c_int, returns=_POINTER)
get_render_mode = _call(raw.FPDFTextObj_GetTextRenderMode, _POINTER)
count_segments = _call(raw.FPDFPath_CountSegments, _POINTER)
_get_draw_mode = _call(raw.FPDFPath_GetDrawMode, *[_POINTER] * 3)
set_active = _call(raw.FPDFPageObj_SetIsActive, _POINTER, c_int)
_get_bounds = _call(raw.FPDFPageObj_GetBounds, *[_POINTER] * 5)
_get_matrix = _call(raw.FPDFPageObj_GetMatrix, _POINTER, _POINTER)
_get_shape_box = _call(raw.FPDFText_GetCharBox, _POINTER, c_int, *[_POINTER] * 4)
_get_loose_box = _call(raw.FPDFText_GetLooseCharBox, _POINTER, c_int, _POINTER)
_get_char_colour = _call(raw.FPDFText_GetFillColor, _POINTER, c_int, *[_POINTER] * 4)


def character_box(text_page: int, index: int) -> Box:
    """Return the box of a character, with room for the tallest of its font."""
    _get_loose_box(text_page, index, _BOX_AT)
    left, top, right, bottom = _UNPACK_BOX(_box)
    return left, bottom, right, top


def shape_box(text_page: int, index: int) -> Box:
    """Return the box of the shape that is drawn for a character."""
    _get_shape_box(text_page, index, *_SHAPE_PARTS)
    left, right, bottom, top = struct.unpack("4d", _shape.raw)
    return left, bottom, right, top


def character_colour(text_page: int, index: int) -> Colour:
    _get_char_colour(text_page, index, *_COLOUR_PARTS)
    red, green, blue, alpha = _UNPACK_COLOUR(_colour)
    return red, green, blue, alpha


def bounds(page_object: int) -> Box:
    """Return the box of an object, in the space of the page or of the form that it stands in."""
    _get_bounds(page_object, *_BOX_PARTS)
    left, bottom, right, top = _UNPACK_BOX(_box)
    return left, bottom, right, top


def is_filled(path: int) -> bool:
    _get_draw_mode(path, _BOX_AT, _BOX_AT + 4)
    return bool(struct.unpack_from("i", _box)[0] != raw.FPDF_FILLMODE_NONE)


def matrix(page_object: int) -> tuple[float, ...]:
    _get_matrix(page_object, _MATRIX_AT)
    return struct.unpack("6f", _matrix.raw)
