from typing import Any

import pytest

from stackroom_local.deployment.intrinsics import (
    REF,
    TemplateScope,
    Unresolvable,
    with_literals,
)

INDEX = {REF: "arn:index", "IndexArn": "arn:index"}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ({"Ref": "Index"}, "arn:index"),
        ({"Fn::GetAtt": ["Index", "IndexArn"]}, "arn:index"),
        ({"Fn::ImportValue": "other:Arn"}, "arn:imported"),
        ({"Fn::Join": ["-", ["a", {"Ref": "AWS::Region"}]]}, "a-us-east-1"),
        ({"Fn::Select": [1, {"Fn::Split": [":", {"Ref": "Index"}]}]}, "index"),
        (
            {"Fn::Sub": "${Index.IndexArn}/${AWS::Region}/${!Literal}"},
            "arn:index/us-east-1/${Literal}",
        ),
        ({"Fn::Sub": ["${x}", {"x": {"Ref": "Index"}}]}, "arn:index"),
        ({"Name": [{"Ref": "Index"}], "Size": 3}, {"Name": ["arn:index"], "Size": 3}),
    ],
)
def test_an_expression_is_computed(expression: Any, value: Any) -> None:
    scope = TemplateScope(
        stack="data", resources={"Index": INDEX}, exports={"other:Arn": "arn:imported"}
    )

    assert scope.value(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        {"Ref": "Nobody"},
        {"Fn::GetAtt": ["Index", "Colour"]},
        {"Fn::ImportValue": "nobody:Arn"},
    ],
)
def test_expression_that_cannot_be_computed_is_named(expression: Any) -> None:
    scope = TemplateScope(stack="data", resources={"Index": INDEX})

    with pytest.raises(Unresolvable, match=str(next(iter(expression)))[-3:] + "|GetAtt"):
        scope.value(expression)


def test_references_to_what_was_made_become_literals_and_others_stay() -> None:
    template = {
        "Arn": {"Fn::GetAtt": ["Index", "IndexArn"]},
        "Text": {"Fn::Sub": "${Index} in ${AWS::Region} of ${Bucket.Arn}"},
        "Other": {"Ref": "Bucket"},
    }

    assert with_literals(template, {"Index": INDEX}) == {
        "Arn": "arn:index",
        "Text": {"Fn::Sub": "arn:index in ${AWS::Region} of ${Bucket.Arn}"},
        "Other": {"Ref": "Bucket"},
    }
