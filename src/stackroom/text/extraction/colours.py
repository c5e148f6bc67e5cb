"""Colours of text and of what it stands on, by which people see it or don't."""

from collections.abc import Sequence

WHITE = (1.0, 1.0, 1.0)

Colour = tuple[float, float, float]  # red, green and blue, each up to 1

# Of luminances [WCAG 2.2, contrast ratio]. Grey that hardly anybody reads has about 1.2; what is
# hidden on purpose is white on white, or a shade beside it.
_LEAST_CONTRAST = 1.1


def of_hex(digits: str) -> Colour | None:
    """Return the colour of RRGGBB; None for what is none, such as "auto"."""
    try:
        parts = bytes.fromhex(digits)
    except ValueError:
        return None
    return (parts[0] / 255, parts[1] / 255, parts[2] / 255) if len(parts) == 3 else None


def are_alike(one: Sequence[float], other: Sequence[float]) -> bool:
    """Return True if text of one colour can't be seen on the other."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05) < _LEAST_CONTRAST and all(
        abs(a - b) < 0.1 for a, b in zip(one, other, strict=True)
    )


def _luminance(colour: Sequence[float]) -> float:
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
