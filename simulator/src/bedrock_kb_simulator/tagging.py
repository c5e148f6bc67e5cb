"""TagResource, UntagResource and ListTagsForResource, which each service has for its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.dispatch import Handler, Parameters
from bedrock_kb_simulator.tags import Tags


@dataclass(frozen=True, kw_only=True)
class Tagging:
    """
    Of one service. `find` raises ServiceError for an ARN that no resource of it has; `arn` is what
    requests call it; `pairs` is whether tags are a list of them, and a map otherwise.
    """

    tags: Tags
    find: Callable[[str], None]
    arn: str = "resourceArn"
    pairs: bool = False

    def handlers(self, service: str) -> dict[str, Handler]:
        return {
            f"{service}.TagResource": self._tag,
            f"{service}.UntagResource": self._untag,
            f"{service}.ListTagsForResource": self._list,
        }

    def _tag(self, parameters: Parameters) -> Parameters:
        self.tags.put(self._found(parameters), parameters["tags"])
        return {}

    def _untag(self, parameters: Parameters) -> Parameters:
        self.tags.remove(self._found(parameters), parameters["tagKeys"])
        return {}

    def _list(self, parameters: Parameters) -> Parameters:
        tags: Any = self.tags.of(self._found(parameters))
        if self.pairs:
            tags = [{"key": key, "value": value} for key, value in tags.items()]
        return {"tags": tags}

    def _found(self, parameters: Parameters) -> str:
        arn = str(parameters[self.arn])
        self.find(arn)
        return arn
