"""
Requests are held against what their API models say and botocore leaves unchecked: the bounds of
lists, texts and numbers, patterns, and enums.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.model import OperationModel
from botocore.validate import ParamValidationDecorator

from bedrock_kb_simulator.dispatcher import validate
from bedrock_kb_simulator.service_errors import ServiceError


@pytest.fixture(autouse=True)
def strict_requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each request that breaks a rule of its model fails the test, whoever catches its error."""
    found: list[str] = []
    serialize = ParamValidationDecorator.serialize_to_request

    def noted(validator: ParamValidationDecorator, parameters: Any, model: OperationModel) -> Any:
        request = serialize(validator, parameters, model)  # what botocore refuses ends here
        # A stream's length is unknown.
        known = {name: each for name, each in parameters.items() if not hasattr(each, "read")}
        try:
            if model.input_shape is not None:
                validate(model.input_shape, known)
        except ServiceError as error:
            found.append(f"{model.name}: {error}")
        return request

    monkeypatch.setattr(ParamValidationDecorator, "serialize_to_request", noted)
    yield
    assert not found, "\n".join(found)
