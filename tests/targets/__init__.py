"""The targets that tests run programs on, as fixtures.

A test of the language asks for `target` and runs programs through it: `target.evaluate` a device function on values,
`target.launch` a kernel on arrays. It is run once for each target: by the interpreter alone, and by the interpreter and
one more target that must give the same (`compared`): native code (`native`), GPU code on the TTIR machine or on a GPU
(`gpu_code`). So what a test says of the interpreter holds for every target, and a new target is one more class and one
more name in `tests.language.conftest`.

A test of GPU code asks for `gpu_code`, which is the TTIR machine and every GPU; a test of hardware asks for `device`.
Without a GPU a case of each is run on a stand-in (`hardware`).
"""
