"""Pictures of a launch: what each tile block touches, in one page without a server."""
