"""The local mode: the whole of Stackroom on one machine. Never shipped to Lambda."""
