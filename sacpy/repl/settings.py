"""What the user may set at the prompt.

In: names and texts. Out: `Settings`. `SETTINGS` is the table of them, with what each means and what it may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sacpy.jit.options import GENERATIONS, STRATEGIES
from sacpy.nodes import replace
from sacpy.repl.page import Page, terminal_page

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Setting:
    """`summary` says what it is for; `allowed` what it may be, in words; `fits` whether a text is that."""

    summary: str
    default: str
    allowed: str
    fits: Callable[[str], bool]


def _number(low: int, high: int) -> Callable[[str], bool]:
    return lambda text: text.isdecimal() and low <= int(text) <= high


def _one_of(*words: str) -> Callable[[str], bool]:
    return lambda text: text in words


def _room(low: int) -> Callable[[str], bool]:
    number = _number(low, 100_000)
    return lambda text: text == AUTO or number(text)


PROTOCOLS = ("kitty", "iterm", "sixel", "blocks", "file")
SETTINGS: dict[str, Setting] = {
    "digits": Setting("significant digits of reals in arrays", "8", "a number from 1 to 17", _number(1, 17)),
    "width": Setting("columns that a value may take", AUTO, "auto (the terminal's), or a number from 16", _room(16)),
    "height": Setting("lines that a value may take", AUTO, "auto (the terminal's), or a number from 4", _room(4)),
    "keys": Setting("keys of the line editor", "emacs", "emacs or vi", _one_of("emacs", "vi")),
    "strategy": Setting(
        "who lays out with-loops on a GPU", "auto", f"one of {', '.join(STRATEGIES)}", _one_of(*STRATEGIES)
    ),
    "device": Setting(
        "the GPU that :picture lays them out for", "sm_90", f"one of {', '.join(GENERATIONS)}", _one_of(*GENERATIONS)
    ),
    "strict-fp": Setting(
        "sums of reals in the order that the program says, to the last bit, compiled too",
        "off",
        "on or off",
        _one_of("on", "off"),
    ),
    "images": Setting(
        "how :img shows pictures",
        AUTO,
        f"auto (what the terminal can do), {', '.join(PROTOCOLS)}",
        _one_of(AUTO, *PROTOCOLS),
    ),
}


@dataclass(slots=True)
class Settings:
    """The present values."""

    values: dict[str, str] = field(
        default_factory=lambda: {name: setting.default for name, setting in SETTINGS.items()}
    )

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def page(self, plain: Page, terminal: bool) -> Page:
        """The room for values, on a terminal or elsewhere."""
        page = terminal_page(int(self["digits"])) if terminal else replace(plain, digits=int(self["digits"]))
        width, height = self["width"], self["height"]
        return replace(
            page,
            columns=page.columns if width == AUTO else int(width),
            lines=page.lines if height == AUTO else int(height),
        )
