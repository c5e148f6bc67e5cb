"""
The six benchmarks that claims of README and docs rest on; `make bench-NAME` runs each.

- burst: the pipeline under load, against the least time that Bedrock's limits allow; and 200
  tenants at one knowledge base, one of whom asks far too much
- answers: how many of the answers plain Retrieve and Stackroom find
- readers: how much of a file's text we read, and which files crash a reader or go missing
- reconciler: a full round over up to five million documents
- cold: the import time and zip size of each function
- costs (running_costs): a month without any work, and a thousand documents

burst, reconciler and costs run in simulated time (`simulated_time`).
"""
