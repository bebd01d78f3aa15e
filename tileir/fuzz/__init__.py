"""Differential testing: programs made from a seed, engines that must agree on them, and what is done with a finding."""
