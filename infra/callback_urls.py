"""The URLs to which Cognito may redirect a browser after a sign-in."""

from urllib.parse import urlsplit

import aws_cdk as cdk

# The callback of `stackroom login`. Cognito compares a callback as a whole, including the port, and
# http for this name only, not for 127.0.0.1.
# https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-app-idp-settings.html
LOGIN_CALLBACK = "http://localhost:8976/callback"
# https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_CreateUserPoolClient.html
_MAX_URLS = 100
_MAX_LENGTH = 1024


def callback_urls(app: cdk.App) -> tuple[str, ...]:
    """
    Return the callback of `stackroom login` and those of the comma-separated context
    `callback_urls`.
    """
    given = [url.strip() for url in str(app.node.get_context("callback_urls")).split(",")]
    urls = tuple(dict.fromkeys([LOGIN_CALLBACK, *filter(None, given)]))
    for url in urls:
        if not _is_valid(url):
            raise ValueError(
                f"context callback_urls {url!r} must be https://..., http://localhost... or use an"
                f" app's own scheme, without '#', with at most {_MAX_LENGTH} characters"
            )
    if len(urls) > _MAX_URLS:
        raise ValueError(
            f"context callback_urls has {len(urls) - 1} URLs, and must have at most {_MAX_URLS - 1}"
        )
    return urls


def _is_valid(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_secure = parts.scheme != "http" or parts.hostname == "localhost"
    except ValueError:
        return False
    is_complete = bool(parts.scheme and (parts.netloc or parts.path))
    has_host = parts.scheme not in ("http", "https") or bool(parts.hostname)
    is_plain = "#" not in url and url.isprintable() and " " not in url
    return is_complete and has_host and is_secure and is_plain and len(url) <= _MAX_LENGTH
