"""A module's text as several, which LLVM translates at the same time.

In: the text of a module, and how many may be made of it. Out: as many texts as pay; their objects belong together
(`objects.bundled`). What loops over arrays do are functions that are never written out where they are called (chunks,
filling, joining), so LLVM learns nothing about them there: they may lie in another object. Whatever else there is,
which LLVM may write out, stays together in the first text.
"""

from __future__ import annotations

import re

# how much LLVM has to do, in lines of a function that calls others, at least, for a text of its own: some 60 ms, as
# long as it takes to start another process
SHARE = 1000
LOOPS = 2.5  # times as long it takes for a line of loops, of which it makes several versions
_function = re.compile(r"^define .*?^}\n", re.MULTILINE | re.DOTALL)
_name = re.compile(r"@(?:[\w.$-]+|\"[^\"]*\")")


def split(text: str, most: int) -> list[str]:
    """At most so many texts, each with much the same to do."""
    functions = _function.findall(text)
    work = [f.count("\n") * (LOOPS if _moves(f) else 1) for f in functions]
    count = min(most, int(sum(work) / SHARE))
    if count < 2:
        return [text]
    parts: list[list[int]] = [[k for k, f in enumerate(functions) if not _moves(f)], *([] for _ in range(count - 1))]
    loads = [sum(work[k] for k in part) for part in parts]
    for k in sorted(range(len(functions)), key=lambda k: -work[k]):
        if _moves(functions[k]):
            least = loads.index(min(loads))
            parts[least].append(k)
            loads[least] += work[k]
    if sum(work) - max(loads) < SHARE:  # one function has most of it
        return [text]
    rest = _function.sub("", text)
    return [_part(functions, sorted(part), rest) for part in parts if part]


def _moves(function: str) -> bool:
    return function.split("\n", 1)[0].endswith(" noinline {")


def _is_copied(function: str) -> bool:
    return function.split("\n", 1)[0].endswith(" alwaysinline {")


def _part(functions: list[str], own: list[int], rest: str) -> str:
    """A module of some of the functions. What others call of it, and what it calls of others, is one function in all
    objects, and nowhere else."""
    copied = [f for f in functions if _is_copied(f)]
    here = [_shared(functions[k]) for k in own if not _is_copied(functions[k])]
    used = set(_name.findall("".join([*copied, *here])))
    others = [f for k, f in enumerate(functions) if k not in own and not _is_copied(f) and _named(f) in used]
    return "".join([*copied, *map(_declared, others), *here, rest])


def _named(text: str) -> str:
    found = _name.search(text)
    assert found is not None
    return found[0]


def _shared(function: str) -> str:
    return function.replace("define internal ", "define hidden ", 1)


def _declared(function: str) -> str:
    """The declaration of a function: its types, without the names of its parameters."""
    head = function.split("\n", 1)[0].removesuffix(" noinline {").removesuffix(" {")
    bare = re.sub(r" %[\w.$-]+(?=[,)])", "", head)
    return re.sub(r"^define (?:internal )?", "declare hidden ", bare) + "\n"
