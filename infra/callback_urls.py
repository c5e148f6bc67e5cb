"""Where Cognito may send a browser back to after a sign-in."""

from urllib.parse import urlsplit

import aws_cdk as cdk

# Where `stackroom login` listens. Cognito compares a callback as a whole, port and all, and takes
# http for this name only, not for 127.0.0.1.
# https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-app-idp-settings.html
OF_LOGIN = "http://localhost:8976/callback"
# https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_CreateUserPoolClient.html
_MOST = 100
_LONGEST = 1024


def callback_urls(app: cdk.App) -> tuple[str, ...]:
    """That of `stackroom login`, and those of the context `callback_urls`, commas between."""
    given = [url.strip() for url in str(app.node.get_context("callback_urls")).split(",")]
    urls = tuple(dict.fromkeys([OF_LOGIN, *filter(None, given)]))
    for url in urls:
        if not _is_taken(url):
            raise ValueError(
                f"context callback_urls {url!r} must be https://..., http://localhost... or of an "
                f"app's own scheme, without '#', at most {_LONGEST} characters"
            )
    if len(urls) > _MOST:
        raise ValueError(
            f"context callback_urls has {len(urls) - 1}, must have {_MOST - 1} at most"
        )
    return urls


def _is_taken(url: str) -> bool:
    try:
        parts = urlsplit(url)
        secure = parts.scheme != "http" or parts.hostname == "localhost"
    except ValueError:
        return False
    whole = bool(parts.scheme and (parts.netloc or parts.path))
    known = parts.scheme not in ("http", "https") or bool(parts.hostname)
    plain = "#" not in url and url.isprintable() and " " not in url
    return whole and known and secure and plain and len(url) <= _LONGEST
