"""Matrix products: packed panels and a register-blocked inner loop."""
