"""One folder a Lambda function; each handler parses, calls one use case, logs one line, returns."""
