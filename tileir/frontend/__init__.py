"""What the front ends for Python kernels share: scripts, child processes, the sanitizer's session, lines of Python."""
