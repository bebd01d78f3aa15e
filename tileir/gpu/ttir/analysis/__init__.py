"""Knowledge about an entry, gathered before its TTIR is made."""
