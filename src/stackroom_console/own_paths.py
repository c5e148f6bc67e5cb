"""Where a sign-in may lead: to a page of ours, and nowhere else."""

from urllib.parse import urlencode, urlsplit

HOME = "/catalogs"
SIGN_IN = "/sign-in"
LONGEST = 400  # characters: ours are shorter, and it travels in an address and in a cookie


def own_path(text: str | None) -> str:
    """
    The path and query, if they are ours; else home. Browsers read `\\` as `/`, drop tabs and line
    breaks, and take `//host` for another host [WHATWG URL, relative slash state].
    """
    if not text or len(text) > LONGEST or not text.isascii() or not text.isprintable():
        return HOME
    if not text.startswith("/") or text[1:2] in ("/", "\\") or "\\" in text or " " in text:
        return HOME
    try:
        parts = urlsplit(text)
    except ValueError:
        return HOME
    is_ours = not parts.scheme and not parts.netloc and not parts.path.startswith(SIGN_IN)
    return text if is_ours else HOME


def signing_in(return_to: str, *, begin: bool, ask_again: bool = False) -> str:
    """`begin` leads to the provider at once, which may know the user; else a page says so first."""
    query = {"return_to": own_path(return_to), **({"ask_again": "1"} if ask_again else {})}
    return f"{SIGN_IN}{'/begin' if begin else ''}?{urlencode(query)}"
