"""The core of the representation: types, attributes, values, operations. It knows no operation."""
