"""Modules and kernels as Python sees them: loading, arguments, grids, targets, launches.

Knows: how a program is loaded and saved, which Python values an argument may be, how a launch is checked and handed to
a target, and how each target takes it. The three names to start from are `module.Kernel`, `arguments.Binder` and
`module.Target`.
Does not know: what watches or proves a launch (`sanitize`, `explore`), nor how a program runs (`interp`, `cpu`, `gpu`).
"""
