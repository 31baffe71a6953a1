"""Puts another build of the native module in the place of the installed one.

With this folder on PYTHONPATH, SIEVE_NATIVE_MODULE names the file that `sieve._native` is loaded
from, in child processes as well: `make sanitize` runs the tests on a build with sanitizers.
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any


class _Override:
    """Comes before every other way of finding modules."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != "sieve._native":
            return None
        return importlib.util.spec_from_file_location(fullname, os.environ["SIEVE_NATIVE_MODULE"])


if "SIEVE_NATIVE_MODULE" in os.environ:
    sys.meta_path.insert(0, _Override)
