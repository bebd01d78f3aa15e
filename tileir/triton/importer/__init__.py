"""The importer: TTIR, the first form that Triton's compiler gives a kernel, as a program of Tile IR.

    reader      TTIR text as a tree of operations (`syntax`), each with the place in Python that it comes from
    entry       functions as entries; `control` joins their blocks to structured regions
    importing    the state of one function while it is imported: values, the block being made, what went wrong
    ordering    tokens: Triton promises that memory is accessed in program order, Tile IR does not
    rules/      a rule or a row for each operation of TTIR, one file per chapter

Knows: what TTIR means. Does not know: Triton, which need not be installed, nor how a kernel is launched.
"""
