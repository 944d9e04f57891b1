# SPDX-License-Identifier: Apache-2.0
"""Tests against real servers: CAIRN_BIN names the binary, CAIRN_TEST_ENGINE the engine (sqlite or
postgres, with CAIRN_TEST_POSTGRES its URL), CAIRN_LIBRARY libcairn."""
import faulthandler
import sys
import unittest
from pathlib import Path

start_test = unittest.TestResult.startTest


def start_guarded(result, test):
    """Prints the stack of a test that hangs. Each test has its own time, however many there are."""
    faulthandler.dump_traceback_later(400, exit=True)
    start_test(result, test)


unittest.TestResult.startTest = start_guarded
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
