"""Analyses: facts about a program that are found without running it."""
