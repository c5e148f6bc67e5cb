"""Executions of the state machine, and the tasks that wait in them."""
