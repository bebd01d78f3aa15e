"""Code for GPUs: through Triton's TTIR to PTX and cubin, or through the vendor's assembler, and launching both."""
