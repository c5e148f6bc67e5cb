"""How functions log and count: one logger and one metrics namespace for all of them."""

from functools import cache

from aws_lambda_powertools import Logger, Metrics

NAMESPACE = "Stackroom"


@cache
def logger_for(service: str) -> Logger:
    """The logger of one function: constant messages, values as fields, never a whole event."""
    return Logger(service=service)


@cache
def metrics_for(service: str) -> Metrics:
    """EMF metrics of one function, in the namespace that the dashboard reads."""
    return Metrics(namespace=NAMESPACE, service=service)
