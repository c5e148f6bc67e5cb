"""The Lambda context, as far as our handlers read it."""

from dataclasses import dataclass


@dataclass
class Context:
    function_name: str = "a_function"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:123456789012:function:a_function"
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"
    milliseconds_left: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds_left
