"""The local mode, which runs all of Stackroom on one machine. It is never deployed to Lambda."""

import sys
from pathlib import Path

# The wheel bundles a package there that its metadata can't require; hatch_build.py explains why.
sys.path.append(str(Path(__file__).with_name("shipped") / "packages"))
