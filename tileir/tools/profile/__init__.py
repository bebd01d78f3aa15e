"""Profiles of launches on native code: time, operations, bytes and flops by line."""
