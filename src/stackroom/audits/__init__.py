"""Looking for what bucket, records, index and control table tell differently, and mending it."""
