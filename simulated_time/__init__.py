"""
An AWS account under simulated time: what takes AWS a month takes minutes here, rule for rule.

`memory` and `stores` have the pipeline's ports without AWS, for benchmarks and tests.
"""
