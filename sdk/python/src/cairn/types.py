# SPDX-License-Identifier: Apache-2.0
"""What bodies and answers look like: from cairn.types import Thread, Run"""
from ._generated.types import *  # noqa: F401,F403
