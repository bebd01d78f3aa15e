"""Running native code: compiled entries, threads, arenas."""
