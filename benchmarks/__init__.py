"""
The six benchmarks behind the claims of README and docs; `make bench-NAME` runs each.

- burst: the pipeline under load, against the least time that Bedrock's limits allow; and 200
  tenants at one knowledge base, one of whom asks far too much
- answers: the share of answers that plain Retrieve and Stackroom find
- readers: the share of a file's text that is read, and files that crash a reader or lose text
- reconciler: a full round over up to five million documents
- cold: the import time and zip size of each function
- costs (running_costs): a month without any work, and a thousand documents

burst, reconciler and costs run in simulated time (`simulated_time`).
"""
