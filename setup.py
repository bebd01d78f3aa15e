"""Says first what is missing where Python is too old; everything else is in pyproject.toml."""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - an older Python comes here before it looks at requires-python
    sys.exit("tileir needs Python 3.10 or newer, and this is Python {}.{}".format(*sys.version_info))

from setuptools import setup

setup()
