"""A hook that runs at the start of each function's process, such as to record its AWS calls."""

import importlib
import os

VARIABLE = "STACKROOM_PROCESS_HOOK"  # names a module


def run_hook(function: str) -> None:
    """Call `begin` of the module that the environment names, if any; imports of handlers follow."""
    if module := os.environ.get(VARIABLE):
        importlib.import_module(module).begin(function)
