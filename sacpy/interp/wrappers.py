"""Python functions that stand for functions of SaC: external ones, and NumPy's for some of the library (twins).

In: a head. Out: generated Python that checks the arguments' pattern, calls the Python function, and gives results that
are certainly nobody else's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sacpy.interp import natives
from sacpy.interp.codegen_patterns import Patterns
from sacpy.interp.emitter import Emitter, Generated
from sacpy.interp.errors import CallFault
from sacpy.interp.facts import Facts
from sacpy.interp.ownership import protocol
from sacpy.interp.runtime.calls import shown
from sacpy.lang.core import EMPTY, Function, Signature

if TYPE_CHECKING:
    from sacpy.interp.evaluator import Bindings
    from sacpy.interp.twins import Twin
    from sacpy.interp.world import World


def twin(signature: Signature, name: str, twin: Twin) -> Generated:
    """Pattern checks, then the twin."""
    generator = Patterns(Facts(), name)
    rules = protocol(signature)
    generator.entry_checks(Function(signature, (), EMPTY, ()))
    args = [generator.name(p.bind.name) for p in signature.params]
    flags = [f"o_{i}" for i in rules.takes]
    results = [f"r{i}" for i in range(len(signature.results))]
    left = f"{', '.join(results)} = " if results else ""

    def part(which: str) -> str:
        return generator.constant("twin", signature.key, which)

    in_place = hasattr(twin, "in_place")
    for i in rules.takes if in_place else ():  # an argument that nobody else holds takes up the result
        generator.emit(f"if o_{i}: return {part('in_place')}({', '.join(args)}, {args[i]}), True", signature.span)
    if hasattr(twin, "growing") and rules.takes and rules.gives:  # so does one that has room for it
        given = [f"o_{i}" if i in rules.takes else "False" for i in range(len(args))]
        generator.emit(
            f"if {' or '.join(f'o_{i}' for i in rules.takes)}: return "
            f"{part('growing')}({', '.join(args)}, ({', '.join(given)})), True",
            signature.span,
        )
    generator.emit(f"{left}{part('')}({', '.join(args)})", signature.span)
    _hand_back(generator, signature, results, args, rules.gives)
    return generator.generated(shown(signature), f"def {name}({', '.join(args + flags)}):", signature.span)


def external(signature: Signature, name: str, bindings: Bindings, world: World) -> Generated:
    """A wrapper of an external function, which is a frame of the call stack."""
    native = signature.native
    assert native is not None
    generator, owner = Emitter(Facts(), name), shown(signature)
    function, need = bindings(signature), "live"
    if function is None:
        function, need = natives.find(native.name), "native"
    if function is None:
        from sacpy.interp import foreign

        function, need = foreign.find(signature, world), "live"
    args = [f"a{i}" for i in range(len(signature.params))]
    if function is None:
        help_ = f'bind it: session.bind("{owner}", a_python_function)'
        unbound = generator.constant("live", _unbound)
        generator.emit(f"{unbound}({signature.text!r}, {help_!r})", signature.span)
        return generator.generated(owner, f"def {name}(*args, **keywords):", signature.span)
    params, passed = ", ".join(args), ", ".join(args)
    if native.varargs:
        params, passed = "*args, bases=()", "*args, bases=bases"
    elif native.varresults:
        params, passed = f"{params}, result_bases=()", f"{passed}, result_bases=result_bases"
    elif getattr(function, "wants_bases", False):
        passed += f"{', ' if passed else ''}bases={tuple(p.base for p in signature.params)!r}"
    callee = generator.constant(need, native.name if need == "native" else function)
    call = f"{callee}(_world{', ' if passed else ''}{passed})"
    results = [f"r{i}" for i in range(len(signature.results))]
    if native.varresults:
        generator.emit(f"return {call}", signature.span)
    else:
        generator.emit(f"{', '.join(results)} = {call}" if results else call, signature.span)
        _hand_back(generator, signature, results, ["*args"] if native.varargs else args, ())
    return generator.generated(owner, f"def {name}({params}):", signature.span)


def _hand_back(
    generator: Emitter, signature: Signature, results: list[str], args: list[str], gives: tuple[int, ...]
) -> None:
    """The results of a Python function: arrays come with a flag, or are copied if they are no fresh ones."""
    given = f"({''.join(a + ', ' for a in args)})"
    texts = [
        r if i in gives or signature.results[i].pattern is None else f"_owned({r}, _is_fresh({r}, {given}))"
        for i, r in enumerate(results)
    ]
    texts += [f"_is_fresh({results[i]}, {given})" for i in gives]
    generator.emit(f"return {', '.join(texts)}" if texts else "return None", signature.span)


def _unbound(text: str, help_: str) -> None:
    raise CallFault("E0618", f"the external function {text} is not bound", help=help_)
