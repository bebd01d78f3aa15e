"""Parts that all targets share: modules and kernels as Python sees them, arguments, grids, launches."""
