"""Marks the tests that need the reference tools."""


def pytest_configure(config):
    config.addinivalue_line("markers", "oracle: compares with the reference tools; skipped where they are missing")
