"""`:set`: what the user has set, and setting it."""

from __future__ import annotations

from sacpy.base.spelling import closest
from sacpy.repl.commands.command import Command, refused
from sacpy.repl.commands.listing import listing
from sacpy.repl.engine import Engine
from sacpy.repl.settings import SETTINGS


def _set(engine: Engine, text: str) -> str:
    name, _, value = text.replace("=", " ", 1).partition(" ")
    value = value.strip()
    if not name:
        width = max(map(len, SETTINGS))
        return listing(
            ((f"{n:<{width}}  {engine.settings[n]}", f"{s.summary}: {s.allowed}") for n, s in SETTINGS.items()),
            engine.page.columns,
        )
    setting = SETTINGS.get(name)
    if setting is None:
        near = closest(name, SETTINGS)
        raise refused(
            "E0746",
            f"there is no setting {name}",
            name,
            "unknown setting",
            f"did you mean {near[0]}?" if near else f"there are {', '.join(SETTINGS)}",
        )
    if not value:
        return f"{name} is {engine.settings[name]}: {setting.summary}: {setting.allowed}"
    if not setting.fits(value):
        raise refused(
            "E0747",
            f"{name} cannot be {value}",
            value,
            f"must be {setting.allowed}",
            f"as in :set {name} {setting.default}",
        )
    engine.settings.values[name] = value
    if name == "strategy":
        engine.run_on(strategy=value)
    elif name == "strict-fp":
        engine.run_on(strict_fp=value == "on")
    return f"{name} is {value}"


SET = Command(":set [NAME [VALUE]]", "what can be set, and to what it is; or set it", "setting", _set)
