"""The Lambda functions, one folder each; a handler parses, calls one use case, logs and returns."""
