"""What LLVM does: IR text to machine code for this machine's processor.

In: a `Task`, the text of a module with what is wanted of it. Out: a relocatable object, or assembly. Small modules are
translated in sacpy's own process, all others in one of the processes of `compilers`, where LLVM can be stopped; both
come here, so this module loads LLVM and little besides.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from sacpy.jit.llvm.legal import STRAIGHT_VECTORS
from sacpy.jit.llvm.processor import LEVEL, processor

# that a process translates: each costs it some 45 kB of memory for good, most of them lost by llvmlite's pass builder
TASKS = 256
# LLVM's level for the passes: with vectorised loops the code is as fast as with the higher ones, which take half as
# long again
PIPELINE = 1
# Loop strength reduction takes most of the time of generating code, and gains nothing on what is generated here.
STRENGTH_REDUCTION = "disable-lsr"
# Where a stride is not known, LLVM makes vectors for the stride 1 alone, which is not what such loops have here: the
# last axis has it by construction. Else it loads the elements of a vector one by one.
UNIT_STRIDES = "enable-mem-access-versioning"


class Task(NamedTuple):
    """Something to translate. `level`: how hard LLVM tries, 0 to 3; `passes`: the same, of its passes. `verify`: the
    text is checked first. `assembly`: that is wanted, in UTF-8, and not an object. `little`: LLVM is only to do what
    takes time in proportion to the text, some 100 kB in a hundredth of a second."""

    text: str
    level: int = 3
    verify: bool = False
    assembly: bool = False
    little: bool = False
    passes: int = PIPELINE


@functools.cache
def target() -> Any:
    """This machine, for LLVM."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@functools.cache
def machine(level: int, portable: bool = False) -> Any:
    """What makes code for this machine's processor, or (`portable`) for all that can run the runtime of the package."""
    name, features = (LEVEL, "") if portable else processor()
    return target().create_target_machine(cpu=name, features=features, opt=level, reloc="pic", codemodel="small")


def translated(task: Task) -> bytes:
    """What is wanted. Raises `RuntimeError` where the text is no module."""
    return emitted(optimised(task), task)


def optimised(task: Task) -> Any:
    """The module after LLVM's passes."""
    made = machine(task.level)
    module = llvm.parse_assembly(task.text)
    if task.verify:
        module.verify()
    module.triple = llvm.get_default_triple()
    module.data_layout = str(made.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=0 if task.little else min(task.level, task.passes))
    tuning.loop_vectorization = tuning.loop_interleaving = task.level > 1
    tuning.slp_vectorization = STRAIGHT_VECTORS in task.text  # compiling takes a seventh longer with it
    tuning.loop_unrolling = False  # what pays is unrolled by the vectoriser; the rest only takes time to compile
    builder = llvm.create_pass_builder(made, tuning)
    with _with_option(UNIT_STRIDES, inside=False):
        builder.getModulePassManager().run(module, builder)
    if task.little:
        in_proportion = llvm.create_new_module_pass_manager()
        in_proportion.add_sroa_pass()
        in_proportion.add_simplify_cfg_pass()
        in_proportion.add_dead_code_elimination_pass()
        in_proportion.run(module, builder)
    return module


def emitted(module: Any, task: Task, portable: bool = False) -> bytes:
    """The code of a module that has been through LLVM's passes."""
    made = machine(0 if task.little else task.level, portable)
    with _with_option(STRENGTH_REDUCTION, inside=True):
        found: bytes = made.emit_assembly(module).encode() if task.assembly else made.emit_object(module)
    return found


@contextmanager
def _with_option(name: str, inside: bool) -> Iterator[None]:
    """A switch of LLVM's, which is the whole process's: inside so, outside the other way, as LLVM has it."""
    llvm.set_option("sacpy", f"-{name}={str(inside).lower()}")
    try:
        yield
    finally:
        llvm.set_option("sacpy", f"-{name}={str(not inside).lower()}")
