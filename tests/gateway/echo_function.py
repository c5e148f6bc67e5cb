"""A tool function that tells what it was called with, and fails on request."""

import logging
from typing import Any


def handler(event: dict[str, Any], context: Any) -> Any:
    match event.get("do"):
        case "raise":
            raise RuntimeError("kaboom")
        case "text":
            return "good"
        case "http":
            return {"statusCode": 200, "body": "{}", "isError": True}
    logging.getLogger().warning("echoed %s", event.get("query"))
    custom = context.client_context.custom if context.client_context else None
    return {"event": event, "custom": custom}
