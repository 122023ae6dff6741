"""Elaboration: from the AST of a program and its modules to core.

| file | job |
|---|---|
| `program.py` | `ElaboratedProgram`: keys of function instances, elaborated when first asked for |
| `scope.py` | what names mean in a module: own definitions, `use`, `import`, qualified names |
| `usertypes.py` | base types, typedefs and structs, and how their values lie side by side in core |
| `context.py` | the state while one function is elaborated: variables, statements so far, fresh names |
| `freenames.py` | which names a piece of syntax mentions, and which variables it sets |
| `overlaps.py` | definitions that replace, hide or rival each other |
| `interactive.py` | expressions and statements typed one by one, over named values |
| `functions.py` | heads: signatures, patterns, conditions; the frame around a body |
| `statements.py` | assignments, conditionals, loops, returns |
| `expressions.py` | literals, operators, casts, fields, conditionals |
| `calls.py` | overloads by base type, primitives, reference parameters |
| `selections.py` | selections, dots, and updates of parts |
| `withloops.py` | with-loops and their operators |
| `tensors.py` | tensor comprehensions: ranges, placed axes |
"""
