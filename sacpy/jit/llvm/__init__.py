"""LLVM IR as text, for whatever machine: `legal` writes it, `scalars` and `maths` have a row for each operation of
graphs, `processor` says which processor the host is."""
