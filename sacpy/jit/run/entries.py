"""What calls of a watched function go to, as generated text: a call should cost little, and only plain Python calls may
nest deep.

In: what a function takes and gives. Out: makers of functions that watch (`watcher`) and that call versions
(`dispatcher`), for a `dispatch.Site`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from textwrap import indent
from typing import Any

from sacpy.jit.run.versions import FIRST, REVIEW

GIVEN = 1 << 16  # calls of a recursion between two looks at most
SAMPLED = 15  # brief calls between two that are timed, at most
BRIEF_CALL = 10e-6  # seconds of such a call: to time it takes a part of that which can be felt
LONG_CALL = 1e-3  # seconds of a call that is put down to the kind of its arguments
RERUNS = 3  # calls within each other that are run again; then nothing runs natively


def _interpreted(args: str, values: str, depth: int, timed: str = "") -> str:
    """The lines of a call that is interpreted, so deep in a function: it is counted, and timed if it is the outermost.
    `args`: what it passes on, `values`: those that are no flags; `timed`: what is done then about the seconds that it
    has `taken`."""
    return indent(
        f"""site.calls += 1
active = site.active
site.active = active + 1
if active:
 try: return site.interpreted({args})
 finally: site.active = active
outer, engine.inner = engine.inner, 0.0
site.started = clock() - engine.compiling
try: return site.interpreted({args})
finally:
 site.active = 0
 taken = clock() - engine.compiling - site.started
{timed} site.seconds += taken
 site.own += taken - engine.inner
 engine.inner = outer + taken
 if taken >= {LONG_CALL}: site.took(({values}), taken)
""",
        " " * depth,
    )


@cache
def watcher(
    params: int, arrays: tuple[int, ...], ints: tuple[int, ...], recursive: bool
) -> Callable[..., Callable[..., Any]]:
    """Makes functions that count interpreted calls and time the outermost. What is spent on compiling while they run is
    not theirs. Of brief calls some are timed, which stand for the `given` ones before, of which `left` are to come.
    `recursive`: while the outermost is in progress, calls go to a function that does less: it counts `left`, of the
    `given` calls until it is time to look again."""
    args = ", ".join([f"a{i}" for i in range(params)] + [f"o{i}" for i in range(len(arrays))])
    values = "".join(f"a{i}, " for i in range(params))
    larger = "".join(f" or type(a{i}) is ndarray and a{i}.size > site.large" for i in arrays)
    grown = larger + "".join(f" or a{i} > site.large" for i in ints)
    tests = grown.removeprefix(" or ")
    skips = f"left and site.calls < site.ahead{f' and not ({tests})' * bool(tests)}"
    look = f"""if (site.calls >= site.ahead{grown}) and site.look(({values})): return site.entry({args})"""
    if not recursive:
        sample = f""" if taken < {BRIEF_CALL}:
  run, left = site.interpreted, min(2 * before + 1, {SAMPLED})
  given = left
 taken += before * min(taken, {BRIEF_CALL})
"""
        return _compiled(f"""def make(site, engine, clock, ndarray):
 run = None
 left = given = 0
 def watching({args}):
  nonlocal run, left, given
  if {skips}:
   left -= 1
   site.calls += 1
   return run({args})
  before, left, given = given - left, 0, 0
  {look}
{_interpreted(args, values, 2, sample)} return watching
""")
    return _compiled(f"""def make(site, engine, clock, ndarray):
 run = None
 left = given = 0
 def within({args}):
  nonlocal left, given
  left -= 1
  if left < 0{larger}:
   site.calls += given - left - 1
   given = left = 0
   if (site.calls >= site.ahead{larger}) and site.look(({values})): return site.entry({args})
   site.calls += 1
   given = left = min(max(site.ahead - site.calls, 0), {GIVEN})
  return run({args})
 def watching({args}):
  {look}
  nonlocal run, left, given
  if site.active: return within({args})
  site.calls += 1
  outer, engine.inner = engine.inner, 0.0
  site.started = clock() - engine.compiling
  try:
   run = site.generated()
   site.active = 1
   site.within(within)
   return run({args})
  finally:
   site.active = 0
   site.within(None)
   site.calls += given - left
   left = given = 0
   taken = clock() - engine.compiling - site.started
   site.seconds += taken
   site.own += taken - engine.inner
   engine.inner = outer + taken
   if taken >= {LONG_CALL}: site.took(({values}), taken)
 return watching
""")


@cache
def dispatcher(
    params: int, arrays: tuple[int, ...], results: int, gives: tuple[int, ...]
) -> Callable[..., Callable[..., Any]]:
    """Makes functions that call the version for their arguments' shapes. `arrays`: the parameters that may be arrays,
    which come with flags; `gives`: the results that go with one. What native code returns is nobody else's, unless the
    version says that it keeps a copy."""
    args = ", ".join([f"a{i}" for i in range(params)] + [f"o{i}" for i in range(len(arrays))])
    values = "".join(f"a{i}, " for i in range(params))
    shapes = [f"a{i}.shape if type(a{i}) is ndarray else ()" for i in arrays]
    key = f"({shapes[0]})" if len(shapes) == 1 else f"({', '.join(f'({s})' for s in shapes)})"
    if not results:
        back = "None"
    else:
        back = ", ".join([f"r[{i}]" for i in range(results)] + ["version.owned"] * len(gives))
    call = f"version.call(({values}))"
    if arrays:
        flags = "".join(f"o{arrays.index(i)}, " if i in arrays else "False, " for i in range(params))
        call = f"{call} if version.giving is None else version.giving(({values}), ({flags}))"
    return _compiled(f"""def make(site, memo, engine, clock, ndarray, NativeFailure, unknown):
 def dispatching({args}):
  version = memo.get({key}, unknown)
  if version is unknown: version = site.find(({values}))
  if version is None or (engine.reruns and (engine.reruns > {RERUNS} or site.is_suspect())):
{_interpreted(args, values, 3)}  start = clock()
  try:
   r = {call}
   taken = clock() - start
   version.calls += 1
   version.seconds += taken
   engine.inner += taken
   if version.calls & {REVIEW - 1} == {FIRST}: site.review(version, ({values}))
   return {back}
  except NativeFailure as failure:
   elapsed = clock() - start
   version.seconds += elapsed
   site.failed(version, failure, elapsed)
   if site.wider(version, failure, ({values})): return dispatching({args})
  site.again(elapsed)
  try: r = site.interpreted({args})
  finally: site.rerun()
  site.recovered(version)
  return r
 return dispatching
""")


def _compiled(text: str) -> Callable[..., Callable[..., Any]]:
    space: dict[str, Any] = {}
    exec(compile(text, "<dispatch>", "exec"), space)
    made: Callable[..., Callable[..., Any]] = space["make"]
    return made
