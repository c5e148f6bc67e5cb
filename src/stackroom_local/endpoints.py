"""Which of the local mode's servers stands for which service of AWS."""


def endpoint_variables(aws: str, simulator: str) -> dict[str, str]:
    """
    Which server answers for which service, in the names that boto3 and the AWS CLI honour.

    SQS is named for programs that are told of it alone, and look for no AWS_ENDPOINT_URL. Version 1
    of the AWS CLI honours neither for SQS: it asks AWS unless --endpoint-url is given
    [awscli/customizations/overridesslcommonname.py].
    """
    return {
        "AWS_ENDPOINT_URL": aws,
        "AWS_ENDPOINT_URL_BEDROCK": simulator,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT": simulator,
        "AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME": simulator,
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": simulator,
        "AWS_ENDPOINT_URL_S3VECTORS": simulator,
        "AWS_ENDPOINT_URL_SQS": aws,
    }
