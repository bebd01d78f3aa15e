"""A debugger on the interpreter: in a terminal, and for editors by the Debug Adapter Protocol."""
