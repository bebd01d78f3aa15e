"""Parts of TTIR that several rules are made of."""
