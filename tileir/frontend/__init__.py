"""Code shared by the front ends for Python kernels: scripts, child processes, the sanitizer's session, lines of
Python."""
