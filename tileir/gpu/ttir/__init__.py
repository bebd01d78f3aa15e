"""From a kernel to TTIR, the tile dialect of Triton's compiler: one rule file per chapter of the specification."""
