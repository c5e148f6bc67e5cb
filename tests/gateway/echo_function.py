"""A tool function that tells what it was called with, and fails on request."""

import logging
import os
import time
from typing import Any


def handler(event: dict[str, Any], context: Any) -> Any:
    custom = context.client_context.custom if context.client_context else None
    match event.get("do"):
        case "raise":
            raise RuntimeError("kaboom")
        case "exit":
            os._exit(3)
        case "sleep":
            logging.getLogger().warning("asleep")
            time.sleep(event["seconds"])
        case "text":
            return "good"
        case "large":
            return "x" * 7_000_000
        case "http":
            return {"statusCode": 200, "body": "{}", "isError": True}
    logging.getLogger().warning("echoed %s", event.get("query"))
    return {
        "event": event,
        "custom": custom,
        "process": os.getpid(),
        "remaining_ms": context.get_remaining_time_in_millis(),
        "environment": sorted(os.environ),
    }
