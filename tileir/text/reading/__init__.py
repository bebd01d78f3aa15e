"""Reading: tokens, types, literals, attributes, locations, values and statements, each with recovery after a fault."""
