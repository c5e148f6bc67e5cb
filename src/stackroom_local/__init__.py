"""The local mode: the whole of Stackroom on one machine. Never shipped to Lambda."""

import sys
from pathlib import Path

# A wheel holds a package there that its metadata can't ask for; hatch_build.py says why.
sys.path.append(str(Path(__file__).with_name("shipped") / "packages"))
