"""The Lambda functions, one folder each; a handler parses, calls one use case, logs and returns."""

import gc

# Importing makes many objects that stay; looking for garbage among them takes a tenth of a cold
# start's imports (benchmarks/cold.py).
gc.set_threshold(50_000, 20, 50)
