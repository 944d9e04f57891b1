# SPDX-License-Identifier: Apache-2.0
"""Tests against real servers: CAIRN_BIN names the binary, CAIRN_TEST_ENGINE the engine (sqlite or
postgres, with CAIRN_TEST_POSTGRES its URL), CAIRN_LIBRARY libcairn."""
import faulthandler
import sys
from pathlib import Path

# Prints the stack of a hanging test.
faulthandler.dump_traceback_later(400, exit=True)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
