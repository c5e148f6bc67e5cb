"""From a function's settings to its use cases: what is deployed, behind the ports."""
