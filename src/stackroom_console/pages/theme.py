"""Light, dark, or as the system is: what somebody chose, kept in their browser."""

import json

from starlette.responses import Response

from stackroom.errors import ValidationError
from stackroom_console.authentication import own_path
from stackroom_console.rendering import SYSTEM, THEME, THEMES, redirect
from stackroom_console.request import Request

# A year; browsers keep no cookie for longer than 400 days [RFC 6265bis 5.5].
_SECONDS = 365 * 24 * 3600


def choose(request: Request) -> Response:
    """Save the theme for every page; the one that asked changes by script."""
    chosen = request.form.get("theme", "")
    if chosen not in THEMES:
        raise ValidationError(f"theme: Allowed: {', '.join(THEMES)}")
    if request.is_htmx:
        triggered = {"HX-Trigger": json.dumps({"theme": chosen})}
        response = Response(status_code=204, headers=triggered)
    else:
        response = redirect(request, own_path(request.form.get("return_to")))
    if chosen == SYSTEM:
        request.console.forget_cookie(response, THEME)
    else:
        request.console.keep_cookie(response, THEME, chosen, seconds=_SECONDS)
    return response
