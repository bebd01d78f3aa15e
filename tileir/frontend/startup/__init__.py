"""A folder for the path of child processes: Python runs its `sitecustomize` as they start."""
