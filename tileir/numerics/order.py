"""The order in which partial results are combined, where interpreter and native code agree on it
(spec: reduction#reduce, spec: reduction#scan).
"""

REDUCE_BLOCK = 32
"""Elements that are joined by halving; while there are more, neighbouring blocks of as many are joined."""
SCAN_BLOCK = 8
"""Elements that are scanned one after the other; the results of such blocks are scanned in blocks again."""
