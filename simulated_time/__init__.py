"""
An AWS account under simulated time: a month on AWS takes minutes here, by the same rules.

`memory` and `stores` implement the pipeline's ports without AWS, for benchmarks and tests.
"""
