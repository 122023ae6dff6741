"""Commands that show what is made of an expression: the stages on its way to being run, the mappings of its
with-loops."""

from __future__ import annotations

from sacpy.base.spelling import closest
from sacpy.jit.options import STRATEGIES
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.commands.listing import listing
from sacpy.repl.engine import Engine
from sacpy.repl.stages import STAGES

WHAT = {
    "auto": "what suits the index space and the device best",
    "jing": "rank 1 in blocks of 32, rank 2 in blocks of 32 x 32, up to rank 5 the last two axes as the block",
    "jing_ext": "the same, behind folding axes in pairs until five are left",
    "jing_printed": "jing with the outer axis of rank 2 in x, as its paper prints the chain",
    "foldall": "all axes folded into one, which is cut into blocks by device and size",
}


def _emit(engine: Engine, text: str) -> str:
    stage, _, wanted = text.partition(" ")
    if stage not in STAGES:
        near = closest(stage, STAGES)
        raise refused(
            "E0748",
            f"there is no stage {stage}" if stage else ":emit wants a stage",
            stage,
            "which stage?",
            f"did you mean {near[0]}?" if near else f"the stages are {', '.join(STAGES)}",
        )
    return STAGES[stage](engine, wanted.strip())


def _picture(engine: Engine, text: str) -> str:
    from sacpy.lang.infer_spaces import partitions
    from sacpy.repl.mappings import MOST, drawing
    from sacpy.withloop.devices import DEVICES

    entered, shapes = engine.function_of(text, ":picture")
    found = partitions(engine.program, engine.program.function(entered.key), shapes, MOST)
    if not found:
        return "no with-loop that is certain to run"
    strategy, device = engine.settings["strategy"], DEVICES[engine.settings["device"]]
    return "\n\n".join(drawing(one, strategy, device, engine.page.columns) for one in found)


def _strategy(engine: Engine, name: str) -> str:
    if not name:
        return listing(
            ((f"{'*' if n == engine.settings['strategy'] else ' '} {n}", WHAT[n]) for n in STRATEGIES),
            engine.page.columns,
        )
    if name not in STRATEGIES:
        near = closest(name, STRATEGIES)
        raise refused(
            "E0747",
            f"strategy cannot be {name}",
            name,
            f"must be {', '.join(STRATEGIES)}",
            f"did you mean {near[0]}?" if near else ":strategy lists them",
        )
    engine.settings.values["strategy"] = name
    engine.run_on(strategy=name)
    return f"strategy is {name}"


SHOWN = {name: (stage.__doc__ or "").rstrip(".") for name, stage in STAGES.items()}
EMIT = Command(
    ":emit STAGE EXPR",
    f"what a stage makes of an expression or a function: {', '.join(STAGES)}",
    "expression",
    _emit,
    details="\n".join(f"{name:<7} {what}" for name, what in SHOWN.items()),
    words=SHOWN,
)
PICTURE = Command(
    ":picture EXPR",
    "the with-loops of an expression, and how each is laid out on a GPU",
    "expression",
    _picture,
    details="Index spaces of up to 512 cells are drawn, step by step. :strategy chooses who lays out with-loops that "
    "have no pragma, :set device for which GPU.",
)
STRATEGY = Command(
    ":strategy [NAME]", "the strategies that lay out with-loops on a GPU; or choose one", "word", _strategy, words=WHAT
)
