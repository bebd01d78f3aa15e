"""Code for GPUs, and launching it.

Two routes make machine code: the open one prints TTIR (`ttir`) for Triton's compiler, which runs in a process of its
own (`compiler`); the vendor's hands bytecode to `tileiras` (`vendor`). `launch` runs what either made on a driver.
Knows architectures, object files and what a launch needs beside the arguments. Does not know Python's arrays
(`runtime.gpu`) or what an operation means beyond its TTIR.
"""
