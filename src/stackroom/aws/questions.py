"""What agents ask, by the figures that the tools' functions report to CloudWatch."""

import logging
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

logger = logging.getLogger(__name__)

_NAMESPACE, _FIGURE = "Stackroom", "ToolLatency"  # functions/access_log.py
_TOOLS = (("retrieve", "knowledge_base_retrieve"), ("catalog_tools", "query_catalog"))


class CloudWatchQuestions:
    """`Questions` that were answered, of all of this account's deployments in the region."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def any_between(self, start: datetime, end: datetime) -> bool | None:
        queries = [_query(number, *tool) for number, tool in enumerate(_TOOLS)]
        try:
            answer = self._client.get_metric_data(
                MetricDataQueries=queries, StartTime=start, EndTime=end
            )
        except (ClientError, BotoCoreError) as error:
            logger.warning("nobody knows whether agents ask: %s", error)
            return None
        results = answer["MetricDataResults"]
        if any(sum(each["Values"]) for each in results):
            return True
        return False if all(each["StatusCode"] == "Complete" for each in results) else None


def _query(number: int, service: str, tool: str) -> dict[str, object]:
    named = {"service": service, "tool": tool, "outcome": "success"}
    metric = {
        "Namespace": _NAMESPACE,
        "MetricName": _FIGURE,
        "Dimensions": [{"Name": name, "Value": value} for name, value in named.items()],
    }
    return {
        "Id": f"tool{number}",
        "MetricStat": {"Metric": metric, "Period": 60, "Stat": "SampleCount"},
    }
