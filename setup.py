"""Says first what is missing where Python is too old, and adds the extensions; all else is in pyproject.toml."""

import sys
import sysconfig

if sys.version_info < (3, 10):  # noqa: UP036 - an older Python comes here before it looks at requires-python
    sys.exit("tileir needs Python 3.10 or newer, and this is Python {}.{}".format(*sys.version_info))

from setuptools import Extension, setup

# Short launches are faster with one, and a file that is cut during a launch ends that alone with the other. Nothing
# needs them, so a system without a C compiler installs the rest.
EXTENSIONS = [
    Extension(name, [name.replace(".", "/") + ".c"], py_limited_api=True, optional=True)
    for name in ("tileir.cpu.run._launcher", "tileir.host._mappings")
]
limited = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")
built = limited and sys.implementation.name == "cpython" and sys.platform != "win32"

if built:
    setup(ext_modules=EXTENSIONS, options={"bdist_wheel": {"py_limited_api": "cp311"}})
else:
    setup()
