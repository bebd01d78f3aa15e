"""Programs that access memory wrongly: `programs` makes one from a seed, `guarded` the memory around its arrays,
`outcomes` says in what two targets differ, `launch_line` writes a program down with its arguments."""
