"""Instructions that TTIR does not have, of each maker of GPUs: one table per vendor, so that rules know none."""
