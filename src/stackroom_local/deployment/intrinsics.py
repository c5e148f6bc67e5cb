"""
CloudFormation's intrinsic functions, for resources that the local CloudFormation never sees.

`TemplateScope.value` computes a property of such a resource; `with_literals` replaces references to
these resources in the rest of a template.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stackroom_local.local_errors import LocalModeError
from stackroom_local.state import ACCOUNT, REGION

REF = "Ref"  # the key of `Attributes` under which the result of Ref is kept
Attributes = Mapping[str, str]

_PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::URLSuffix": "amazonaws.com",
}
_PLACEHOLDER = re.compile(r"\$\{([^!}]+)\}")


class Unresolvable(LocalModeError):
    def __init__(self, expression: object) -> None:
        super().__init__(f"the local mode can't compute {expression!r} of a template")


@dataclass(frozen=True, kw_only=True)
class TemplateScope:
    """
    The names that one template can refer to: resources by logical id, and other stacks' exports.
    """

    stack: str
    resources: Mapping[str, Attributes] = field(default_factory=dict)
    exports: Mapping[str, str] = field(default_factory=dict)

    def value(self, expression: Any) -> Any:
        """
        Compute an expression. Raises `Unresolvable` naming the part that it could not compute.
        """
        if isinstance(expression, list):
            return [self.value(item) for item in expression]
        if not isinstance(expression, dict):
            return expression
        if len(expression) == 1:
            [(name, argument)] = expression.items()
            if name == REF or name.startswith("Fn::"):
                return self._call(name, argument)
        return {key: self.value(item) for key, item in expression.items()}

    def _call(self, name: str, argument: Any) -> Any:
        functions: dict[str, Callable[[Any], Any]] = {
            REF: lambda target: self._attribute(target, REF),
            "Fn::GetAtt": lambda target: self._attribute(*_get_att(target)),
            "Fn::ImportValue": self._import,
            "Fn::Join": lambda pair: str(pair[0]).join(map(str, self.value(pair[1]))),
            "Fn::Select": lambda pair: self.value(pair[1])[int(pair[0])],
            "Fn::Split": lambda pair: str(self.value(pair[1])).split(pair[0]),
            "Fn::Sub": self._sub,
        }
        if name not in functions:
            raise Unresolvable({name: argument})
        return functions[name](argument)

    def _attribute(self, logical_id: str, attribute: str) -> str:
        if attribute == REF and logical_id in _PSEUDO:
            return _PSEUDO[logical_id]
        if logical_id == "AWS::StackName":
            return self.stack
        try:
            return self.resources[logical_id][attribute]
        except KeyError:
            raise Unresolvable({"Fn::GetAtt": [logical_id, attribute]}) from None

    def _import(self, argument: Any) -> str:
        name = self.value(argument)
        if name not in self.exports:
            raise Unresolvable({"Fn::ImportValue": name})
        return self.exports[name]

    def _sub(self, argument: Any) -> str:
        text, variables = (argument, {}) if isinstance(argument, str) else argument

        def replaced(match: re.Match[str]) -> str:
            name = match[1]
            if name in variables:
                return str(self.value(variables[name]))
            logical_id, _, attribute = name.partition(".")
            return self._attribute(logical_id, attribute or REF)

        return _PLACEHOLDER.sub(replaced, text).replace("${!", "${")


def with_literals(expression: Any, made: Mapping[str, Attributes]) -> Any:
    """Replace every reference to a resource in `made` by the resource's value."""
    if isinstance(expression, list):
        return [with_literals(item, made) for item in expression]
    if not isinstance(expression, dict):
        return expression
    if expression.keys() == {REF} and expression[REF] in made:
        return _known(made, expression[REF], REF)
    if expression.keys() == {"Fn::GetAtt"}:
        logical_id, attribute = _get_att(expression["Fn::GetAtt"])
        if logical_id in made:
            return _known(made, logical_id, attribute)
    if expression.keys() == {"Fn::Sub"}:
        return {"Fn::Sub": _sub_with_literals(expression["Fn::Sub"], made)}
    return {key: with_literals(item, made) for key, item in expression.items()}


def references(expression: Any) -> Iterator[str]:
    """Yield the names that an expression refers to: logical ids, and pseudo parameters."""
    if isinstance(expression, list):
        for item in expression:
            yield from references(item)
    if not isinstance(expression, dict):
        return
    for key, argument in expression.items():
        if key == REF:
            yield argument
        elif key == "Fn::GetAtt":
            yield _get_att(argument)[0]
        elif key == "Fn::Sub":
            text = argument if isinstance(argument, str) else argument[0]
            yield from (name.partition(".")[0] for name in _PLACEHOLDER.findall(text))
            yield from references(argument)
        else:
            yield from references(argument)


def _sub_with_literals(argument: Any, made: Mapping[str, Attributes]) -> Any:
    text, *variables = [argument] if isinstance(argument, str) else argument

    def replaced(match: re.Match[str]) -> str:
        logical_id, _, attribute = match[1].partition(".")
        return _known(made, logical_id, attribute or REF) if logical_id in made else match[0]

    text = _PLACEHOLDER.sub(replaced, text)
    return [text, *with_literals(variables, made)] if variables else text


def _known(made: Mapping[str, Attributes], logical_id: str, attribute: str) -> str:
    try:
        return made[logical_id][attribute]
    except KeyError:
        raise Unresolvable({"Fn::GetAtt": [logical_id, attribute]}) from None


def _get_att(argument: Any) -> tuple[str, str]:
    logical_id, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
    return logical_id, attribute
