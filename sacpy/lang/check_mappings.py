"""The GPU pragmas of a program, read and checked: what is wrong stands on the very word of the pragma.

In: with-loops of core with what inference knows of them, or the pragmas of a with-loop that is about to be launched;
the limits of a device, where the program is meant for one. Out: the mapping and the memory mode that pragmas ask for,
and diagnostics.

Before bounds are known, a mapping is checked for what holds whatever they are: lists and permutations against the rank,
a shift where the lower bound is known not to be 0, the closing of gaps where there are some. Without a device no limit
applies: such a program runs on the CPU and in the interpreter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sacpy.base.spelling import closest
from sacpy.lang.ast import Pragma
from sacpy.lang.core import HANDED_ON, Fold, Function, Partition, Program, Propagate, WithLoop
from sacpy.lang.diagnostics import Diagnostic, SacError
from sacpy.lang.infer import Inference
from sacpy.lang.infer_spaces import index_space, lets, outline
from sacpy.lang.may_fold import may_fold
from sacpy.lang.pragmas import asks, is_program, word_of
from sacpy.lang.source import NOWHERE
from sacpy.lang.walk import block_free, defined, statements
from sacpy.nodes import Node
from sacpy.withloop.block_words import Force, GpuBlock, GpuEach, GpuThreads
from sacpy.withloop.chains import Chain, Mapping
from sacpy.withloop.devices import DeviceLimits
from sacpy.withloop.errors import MappingError
from sacpy.withloop.pragmas import WORDS, GpuKernel, GpuMem, GpuParam, Order, parse
from sacpy.withloop.pragmas import Pragma as Meaning
from sacpy.withloop.spaces import IndexSpace
from sacpy.withloop.ways import GpuFold

LABELS = {
    "E0801": "not this", "E0802": "no such combinator", "E0803": "wrong argument", "E0804": "one entry for each axis",
    "E0805": "0 or 1", "E0806": "not a permutation", "E0807": "needs a zero-based space",
    "E0808": "needs a dense space", "E0809": "too few axes", "E0810": "too many axes", "E0811": "over a limit",
    "E0812": "has no effect", "E0813": "has no values", "E0814": "wrong values", "E0815": "wrong memory mode",
    "E0817": "no order to say something of", "E0818": "changes the order", "E0819": "cannot be staged",
    "E0820": "cannot be so", "E0821": "cannot be so", "E0822": "not of these rows",
}  # fmt: skip


class Asked(Node):
    """What the pragmas of a partition ask for: a mapping, a memory mode, cells that are programs of a block, nothing.
    `kernel` and `memory` are the pragmas themselves."""

    chain: Chain | None = None
    mode: GpuMem | None = None
    kernel: Pragma | None = None
    memory: Pragma | None = None
    block: GpuBlock | None = None


def diagnostic(error: MappingError, pragma: Pragma | None) -> Diagnostic:
    """An error as a message at the part of the pragma that it is about; of a mapping without a pragma, nowhere."""
    span = NOWHERE if pragma is None else pragma.span if error.span is None else pragma.place(*error.span)
    return Diagnostic(
        error.code,
        error.message,
        span,
        LABELS[error.code] if span is not NOWHERE else "",
        notes=error.notes,
        help=error.help,
    )


def asked(shared: Sequence[Pragma], own: Sequence[Pragma] = ()) -> Asked:
    """What the pragmas of a with-loop and of one of its partitions ask for; the partition's own go first. Raises
    `SacError` with all that is wrong in them."""
    outer, wrong = read(shared)
    inner, more = read(own, shared)
    if wrong or more:
        raise SacError(*wrong, *more)
    chain = kernel = mode = memory = block = None
    for pragma, meaning in (*outer, *inner):
        if isinstance(meaning, GpuKernel):
            chain, kernel = meaning.chain, pragma
        elif isinstance(meaning, GpuMem) and meaning.mode != "arguments":
            mode, memory = meaning, pragma
        elif isinstance(meaning, GpuBlock):
            block = meaning
    return Asked(chain, mode, kernel, memory, block)


def placed(
    shared: Sequence[Pragma], own: Sequence[Pragma], space: IndexSpace, device: DeviceLimits, **parameters: int
) -> Mapping | None:
    """The mapping of a concrete space that pragmas ask for, if they ask for one. Raises `SacError` on the pragma's text
    where it does not fit the space or the device."""
    wanted = asked(shared, own)
    if wanted.chain is None:
        return None
    try:
        return wanted.chain.bind(**parameters).map(space, device)
    except MappingError as error:
        raise SacError(diagnostic(error, wanted.kernel)) from None


def read(
    pragmas: Sequence[Pragma], outer: Sequence[Pragma] = ()
) -> tuple[list[tuple[Pragma, Meaning]], list[Diagnostic]]:
    """The meanings of pragmas in order, without those of other words; and what is wrong with them. `outer`: pragmas in
    front of the whole with-loop, whose parameters hold here too."""
    parameters: dict[str, tuple[int, ...]] = {}
    for pragma in outer:
        try:
            meaning = parse(pragma.text, parameters)
        except MappingError:
            continue  # told where it stands
        if isinstance(meaning, GpuParam):
            parameters[meaning.name] = meaning.values
    found: list[tuple[Pragma, Meaning]] = []
    problems = []
    own: set[str] = set()
    for pragma in pragmas:
        try:
            meaning = parse(pragma.text, parameters)
            if meaning is None:
                continue
            if isinstance(meaning, GpuParam):
                if meaning.name in own:
                    raise MappingError(
                        "E0814",
                        f"the parameter {meaning.name} has its values already",
                        "leave one of the two pragmas out",
                        span=meaning.span,
                    )
                own.add(meaning.name)
                parameters[meaning.name] = meaning.values
            found.append((pragma, meaning))
        except MappingError as error:
            problems.append(diagnostic(error, pragma))
    return found, problems


def when_run(pragmas: Sequence[Pragma], problem: MappingError | str) -> SacError | None:
    """What keeps a with-loop with these pragmas from being launched as they say, as an error on their text: that its
    mapping does not fit, or why it cannot run on a GPU at all. None where nothing was asked for."""
    if isinstance(problem, str):
        asked_for = [p for p in pragmas if asks(p.text)]
        return SacError(on_the_host(asked_for[0], problem, True)) if asked_for else None
    if problem.pragma is not None:
        return SacError(diagnostic(problem, problem.pragma))
    said = [p for p in pragmas if p.text.startswith(problem.word)]
    if not said:
        return None
    if problem.span is None:
        return SacError(diagnostic(problem, said[0]))
    start, end = problem.span
    fitting = [
        p for p in said if end <= len(p.text) and (start == 0 or not (p.text[start - 1] + p.text[start]).isidentifier())
    ]
    return SacError(diagnostic(problem, (fitting or said)[0]))


# ---------------------------------------------------------------- before the program runs


def problems(
    function: Function, known: Inference, device: DeviceLimits | None = None, program: Program | None = None
) -> list[Diagnostic]:
    """What is wrong with the pragmas of a function's with-loops. `device`: its limits count, and a loop with a mapping
    must be one that can run there. `program`: the functions that are called."""
    everywhere = [let.rhs for let in lets(function.body) if isinstance(let.rhs, WithLoop)]
    loops = [loop for loop in everywhere if _has_some(loop)]
    if not loops:
        return []
    written = _written_names(function)
    # what stands in the body of a block's program is the work of many threads
    single = [loop for loop in everywhere if not is_program(loop)]
    inner = {id(let.rhs) for loop in single for p in loop.partitions for let in lets(p.body)}
    found: list[Diagnostic] = []
    for loop in loops:
        own = list(_of_loop(loop, known, written, device, program))
        found += own or _without_kernel(loop, id(loop) in inner, known)
    return found


def _has_some(loop: WithLoop) -> bool:
    return any(
        pragma.text.startswith(WORDS)
        for pragmas in (loop.pragmas, *(p.pragmas for p in loop.partitions))
        for pragma in pragmas
    )


def _written_names(function: Function) -> dict[str, str]:
    """The programmer's names of a function's variables."""
    binds = [slot.bind for slot in function.signature.params] + [
        bind for s in statements(function.body) for bind in defined(s)
    ]
    return {bind.name: bind.source for bind in binds if bind.source}


def _of_loop(
    loop: WithLoop, known: Inference, written: dict[str, str], device: DeviceLimits | None, program: Program | None
) -> Iterator[Diagnostic]:
    read_by = [{written[n] for n in block_free(p.body, p.values) if n in written} for p in loop.partitions]
    common, wrong = read(loop.pragmas)
    yield from [*wrong, *_twice(common), *_staged(common, set().union(*read_by)), *_order(common, loop)]
    reason = host_only(loop)
    if reason is None and all(isinstance(o, Fold) for o in loop.operators):
        yield from (diagnostic(_no_tiles(m), p) for p, m in common if isinstance(m, GpuMem) and m.names)
    for partition, names in zip(loop.partitions, read_by):
        own, wrong = read(partition.pragmas, loop.pragmas)
        yield from [*wrong, *_twice(own), *_staged(own, names), *_order_of_all(own)]
        yield from _of_block([*own, *common], loop, device)
        if reason is not None:
            for pragma in [p for p, _ in (*own, *common) if asks(p.text)][:1]:
                yield on_the_host(pragma, reason, device is not None)
            continue
        if all(isinstance(o, Fold) for o in loop.operators):
            yield from (diagnostic(_no_tiles(m), p) for p, m in own if isinstance(m, GpuMem) and m.names)
        elif not any(isinstance(o, Fold) for o in loop.operators) and not may_fold(partition.body, known, program):
            yield from (diagnostic(_no_fold(m), p) for p, m in (*own, *common) if isinstance(m, GpuFold))
        kernels = [(p, m.chain) for p, m in own if isinstance(m, GpuKernel)] or [
            (p, m.chain) for p, m in common if isinstance(m, GpuKernel)
        ]
        for pragma, chain in kernels[:1]:
            try:
                _fits(chain, loop, partition, known, device)
            except MappingError as error:
                yield diagnostic(error, pragma)


def misplaced(pragmas: Sequence[Pragma]) -> list[Diagnostic]:
    """What is wrong with pragmas that stand where they lay out no with-loop: their place, and their text as anywhere.
    `gpumem [0,2]` is sac2c's, for external functions, and stands right."""
    parameters: dict[str, tuple[int, ...]] = {}
    found = []
    for pragma in pragmas:
        try:
            meaning = parse(pragma.text, parameters)
        except MappingError as error:
            found.append(diagnostic(error, pragma))
        else:
            if isinstance(meaning, GpuParam):
                parameters[meaning.name] = meaning.values
            if isinstance(meaning, GpuMem) and meaning.mode == "arguments":
                continue
        word = word_of(pragma.text)
        found.append(
            Diagnostic(
                "E0816",
                f"this `{word}` pragma stands where it lays out no with-loop",
                pragma.place(0, len(word)),
                "lays out no with-loop",
                help=_PLACES,
            )
        )
    return found


_PLACES = (
    "put it into the braces of the with-loop, before the generator of a partition or behind it: `with {`, this "
    "line, `(lb <= iv < ub) : e; } : ..`"
)


def _without_kernel(loop: WithLoop, inside: bool, known: Inference) -> Iterator[Diagnostic]:
    """Pragmas that ask for a kernel where there is none to lay out. `inside`: the with-loop stands in the body of
    another."""
    if inside:
        reason, help = (
            "its with-loop stands in the body of another, of which each index is the work of one thread",
            "put it into the outer with-loop, or leave it out",
        )
    elif loop.partitions and all(outline(known, loop, p).rank == 0 for p in loop.partitions):
        reason, help = "a with-loop of rank 0 has one index, which is computed where it stands", "leave it out"
    else:
        return
    for pragma in (*loop.pragmas, *(pragma for p in loop.partitions for pragma in p.pragmas)):
        if asks(pragma.text):
            word = word_of(pragma.text)
            yield Diagnostic(
                "W0816",
                f"this `{word}` pragma lays out nothing: {reason}",
                pragma.place(0, len(word)),
                "has no effect",
                help=help,
            )


def _staged(found: Sequence[tuple[Pragma, Meaning]], names: Collection[str]) -> Iterator[Diagnostic]:
    """Arrays that are to be staged, and that nothing here reads."""
    for pragma, meaning in found:
        if isinstance(meaning, GpuMem):
            for name, span in zip(meaning.names, meaning.spans):
                if name not in names:
                    near = closest(name, names)
                    help = (
                        f"did you mean {near[0]}?"
                        if near
                        else f"what is read there: {', '.join(sorted(names))}"
                        if names
                        else "leave the pragma out"
                    )
                    yield diagnostic(
                        MappingError("E0815", f"no partition that this pragma is for reads {name}", help, span=span),
                        pragma,
                    )


def _order(found: Sequence[tuple[Pragma, Meaning]], loop: WithLoop) -> Iterator[Diagnostic]:
    """Pragmas about the order of a fold, where there is none, or one that ends early."""
    for pragma, meaning in found:
        if isinstance(meaning, Order):
            folds = [o for o in loop.operators if isinstance(o, Fold)]
            if not folds:
                yield _no_order(pragma, "this with-loop folds nothing")
            elif meaning.free and any(o.stop is not None for o in folds):
                yield _no_order(
                    pragma,
                    "foldfix ends at the first iteration that reaches its last value, so they come one after the other",
                )


def _order_of_all(own: Sequence[tuple[Pragma, Meaning]]) -> Iterator[Diagnostic]:
    """Pragmas about the order of a fold in front of one partition only."""
    for pragma, meaning in own:
        if isinstance(meaning, Order):
            yield _no_order(pragma, "a fold has one function for all partitions")


def _no_order(pragma: Pragma, reason: str) -> Diagnostic:
    word = word_of(pragma.text)
    help = "put it before the first partition of a with-loop with a fold, or leave it out"
    return Diagnostic(
        "E0817", f"`{word}` says nothing here: {reason}", pragma.place(0, len(word)), LABELS["E0817"], help=help
    )


def _no_tiles(m: GpuMem) -> MappingError:
    return MappingError(
        "E0819",
        f"{m.names[0]} cannot be staged: a fold reads what it needs for each index once, and makes no cells that "
        "blocks could share it for",
        "leave the pragma out",
        span=m.spans[0],
        word="gpumem",
    )


def _of_block(
    found: Sequence[tuple[Pragma, Meaning]], loop: WithLoop, device: DeviceLimits | None
) -> Iterator[Diagnostic]:
    """What is wrong with pragmas that make cells programs of a block, or a with-loop a stage of one."""
    folds = [o for o in loop.operators if isinstance(o, Fold)]
    for pragma, m in found:
        if isinstance(m, GpuBlock):
            other = next((o for _, o in found if isinstance(o, GpuKernel | GpuFold | GpuMem)), None)
            if folds:
                error = m.refused(
                    "a block's program makes a cell, and a fold has none",
                    "let a with-loop with genarray have the programs, and fold what it gives",
                )
            elif other is not None:
                error = m.refused("another pragma lays this with-loop out, too", "leave one of the two out")
            elif device is not None and m.threads > device.threads_per_block:
                error = m.refused(
                    f"{device.name} has {device.threads_per_block} threads in a block at most, and not {m.threads}",
                    "take fewer",
                )
            else:
                continue
            yield diagnostic(error, pragma)
        elif isinstance(m, Force | GpuThreads | GpuEach) and folds:
            yield diagnostic(
                MappingError(
                    "E0821",
                    f"`{m.word}` is about elements, and a fold gives one value",
                    "leave it out; `gpufold runs(8)`, say, has each thread fold several",
                    span=(0, len(m.word)),
                    word=m.word,
                ),
                pragma,
            )


def _no_fold(m: GpuFold) -> MappingError:
    return m.refused("nothing is folded here, so threads put nothing together", "leave the pragma out")


def _fits(chain: Chain, loop: WithLoop, partition: Partition, known: Inference, device: DeviceLimits | None) -> None:
    """Raises `MappingError` for what is wrong with the mapping of a partition as far as is known."""
    space = index_space(known, loop, partition)
    about = outline(known, loop, partition)
    if space is not None:
        chain.map(space, device)
    if about.rank is not None:
        try:
            chain.check(about.rank, device, about.zero_based, about.dense, about.growth)
        except MappingError as error:
            error.notes = ()  # they tell of bounds that nobody wrote
            raise


def _twice(found: Sequence[tuple[Pragma, Meaning]]) -> Iterator[Diagnostic]:
    """Pragmas that are said a second time in the same place."""
    seen: dict[type, Pragma] = {}
    for pragma, meaning in found:
        if isinstance(meaning, GpuParam):
            continue
        if type(meaning) in seen:
            word, other = (word_of(p.text) for p in (pragma, seen[type(meaning)]))
            message, label = (
                (f"there is a second `{word}` pragma here", "said twice")
                if word == other
                else (f"`{word}` contradicts the `{other}` before it", "says the opposite")
            )
            yield Diagnostic("E0801", message, pragma.place(0, len(word)), label, help="leave one of the two out")
        seen[type(meaning)] = pragma


def host_only(loop: WithLoop) -> str | None:
    """Why a with-loop cannot run on a GPU whatever its cells are; None: it can as far as its operators go."""
    for operator in loop.operators:
        if isinstance(operator, Propagate):
            return f"{operator.word} {HANDED_ON[operator.word]}"
        if isinstance(operator, Fold) and operator.stop is not None:
            return "foldfix ends at the first iteration that reaches its last value, so they run one after the other"
    return None


def on_the_host(pragma: Pragma, reason: str, fatal: bool) -> Diagnostic:
    """A mapping of a with-loop that cannot run on a GPU: an error where the program is meant for one, else a
    warning."""
    word = word_of(pragma.text)
    return Diagnostic(
        "E0812" if fatal else "W0812",
        f"this with-loop cannot run on a GPU: {reason}",
        pragma.place(0, len(word)),
        "cannot be mapped" if fatal else "has no effect",
        help="leave the pragma out; the with-loop runs on the CPU",
    )
