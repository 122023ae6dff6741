"""Python functions as SaC.

| file | job |
|---|---|
| `heads.py` | the types in a function's head |
| `places.py` | places in Python files, and the errors of what cannot be captured |
| `kinds.py` | what an expression is: base type, rank, range of whole numbers |
| `jumps.py` | break, continue and early return, turned into conditionals and flags |
| `frame.py` | what is known while a function is captured: variables, shared memory, ways that meet |
| `numbers.py`, `linear.py`, `conditions.py` | operators; comparisons and conditions |
| `expressions.py` | literals, names, constants, tuples and lists |
| `indexing.py` | indices and slices, read and set |
| `spaces.py`, `comprehensions.py` | what loops run over; comprehensions as with-loops |
| `statements.py` | statements |
| `calls.py` | calls of Python's own functions, a row for each |
| `numpy_functions.py`, `numpy_arrays.py`, `numpy_moves.py`, `numpy_axes.py`, `numpy_parts.py` | those of NumPy |
| `einsum.py` | `np.einsum` |
| `signatures.py` | a function's head, and names from outside |
| `names.py` | which variables statements set |
| `unit.py` | one function made, and the program it is part of |
| `support.sac` | Python's meaning where the library's is another |
| `function.py` | `Captured`: the function as it is called |
| `elemental.py` | functions of elements mapped over arrays, and operators that reduce them |
| `generalised.py` | functions of cells mapped over the axes in front |
| `tracing.py` | Python functions run once, and what they did to their arguments captured |
| `importer.py` | `import` of files of SaC |

In: typed Python functions. Out: SaC programs as trees, which sessions check and run as any other. Captured functions
stand above sessions: nothing below imports this.
"""
