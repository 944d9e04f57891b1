# SPDX-License-Identifier: Apache-2.0
"""The types of bodies and responses: from cairn.types import Thread, Run"""
from ._generated.types import *  # noqa: F401,F403
