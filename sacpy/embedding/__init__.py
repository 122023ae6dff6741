"""Programs called from Python.

| file | job |
|---|---|
| `kinds.py` | what a Python value is: its kind, and how well a kind suits a SaC type |
| `arguments.py` | Python values in: strict conversion to the interpreter's values |
| `results.py` | Python values out |
| `records.py` | structs as dictionaries, dataclasses, named tuples and NumPy records |
| `runner.py` | one program with its evaluator: calls within limits, and how it recovers from an interruption |
| `functions.py` | `Module` and `Function`: the functions of a program as Python callables |
| `bindings.py` | Python functions that stand for external ones |
| `grants.py` | `World`: what the programs of a session may touch |
| `mapped.py` | how with-loops are laid out on a GPU, to be looked at |
| `streams.py` | Python's own streams as a program's standard output and input |
"""
