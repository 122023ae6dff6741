"""What sacpy's installer leaves in the package, so that nobody waits for it later: the parsed library, what of it has
effects, and the compiled runtime of native code."""

from __future__ import annotations

from contextlib import suppress

from sacpy.lang.modules import Library, install_library


def install() -> None:
    """Makes all anew. Where the package is built without llvmlite, the runtime is compiled when it is first needed."""
    install_library(library_effects)
    try:
        from sacpy.jit.host.compile import install_runtime
    except ImportError:
        return
    install_runtime()


def library_effects(library: Library) -> dict[str, bool]:
    """By key, whether a function of the library has no effects. Of generic ones those are in it that have one variable,
    if for all types that it may stand for the answer is the same: under their key with `<>` for the type."""
    from sacpy.jit.run.outline import Purity
    from sacpy.lang.diagnostics import SacError
    from sacpy.lang.elaborate.calls import in_kind
    from sacpy.lang.elaborate.usertypes import BUILTINS
    from sacpy.workspace import Workspace

    program, _ = Workspace(_library=library).load_text("int main() { return 0; }")
    purity = Purity(program, ask=False)
    found = {}
    for module in library:
        scope = program.world.scope(module, program.main.info.span)
        for entry in (entry for name in list(scope.info.functions) for entry in scope.own(name)):
            definition = entry.definition
            if not definition.is_generic:
                key = program.key(entry, ())
                found[key] = purity.function(key)
            elif len(definition.typevars) == 1 and not any(p.takes for p in definition.params):
                (variable,) = definition.typevars
                types = [type for type in BUILTINS.values() if in_kind(type, variable.kind)]
                keys = [program.key(entry, ((variable.name, type),)) for type in types]
                answers = set()
                with suppress(SacError):
                    answers = {purity.function(key) for key in keys}
                if len(answers) == 1:
                    found[f"{keys[0].rpartition('<')[0]}<>"] = answers.pop()
    return found
