"""Programs that access memory wrongly: `programs` makes one from a seed, `guarded` the memory around its arrays, and
`outcomes` says in what two targets differ."""
