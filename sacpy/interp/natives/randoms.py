"""Natives of Random, Rand and Rand48: the generators of the C library that older programs use, and Xoshiro's seed from
the clock. A generator belongs to the world, so each session has its own."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Protocol, cast

import numpy as np

from sacpy.interp import memory
from sacpy.interp.natives import native
from sacpy.interp.runtime.structure import extents
from sacpy.interp.world import World

LARGEST = (1 << 31) - 1


class Generator(Protocol):
    """`fraction` gives the next number from 0, inclusive, to 1, exclusive."""

    def fraction(self) -> float: ...


class Feedback:
    """glibc's random(): x(i) = x(i-3) + x(i-31) mod 2^32, without the lowest bit; the first 31 numbers come from a
    linear congruential generator."""

    def __init__(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Begins the sequence of a seed; 0 stands for 1."""
        numbers = [(seed or 1) & 0xFFFFFFFF]
        signed = numbers[0] - (1 << 32) if numbers[0] >> 31 else numbers[0]
        for _ in range(30):
            signed = 16807 * signed % LARGEST if signed >= 0 else -(16807 * -signed % LARGEST)
            signed += LARGEST if signed < 0 else 0
            numbers.append(signed)
        self._numbers = numbers
        self._next = 3  # the first three numbers would only be copied
        for _ in range(310):
            self.number()

    def number(self) -> int:
        """The next number, from 0 to 2^31 - 1."""
        numbers, at = self._numbers, self._next
        numbers[at] = (numbers[at] + numbers[at - 3]) & 0xFFFFFFFF
        self._next = (at + 1) % 31
        return numbers[at] >> 1

    def fraction(self) -> float:
        """The next number but the largest, divided by the largest."""
        number = LARGEST
        while number == LARGEST:
            number = self.number()
        return number / LARGEST


class Congruential:
    """POSIX's drand48()."""

    def __init__(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Begins the sequence of a seed."""
        self._state = (seed & 0xFFFFFFFF) << 16 | 0x330E

    def fraction(self) -> float:
        """The next number."""
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self._state / (1 << 48)


def _feedback(world: World) -> Feedback:
    """Rand and Random share one, as rand() and random() of the C library do."""
    return cast(Feedback, world.state.get("random") or world.state.setdefault("random", Feedback(1)))


def _congruential(world: World) -> Congruential:
    return cast(Congruential, world.state.get("drand48") or world.state.setdefault("drand48", Congruential(1)))


@native("Rand::randGen/0", "Random::randGen/0", "Rand48::randGen/0")
def create(world: World) -> World:
    return world


@native("Rand::srandom/1", "Random::srandom/1")
def seed_feedback(world: World, seed: int) -> None:
    _feedback(world).seed(seed)


@native("Rand48::srandom/1")
def seed_congruential(world: World, seed: int) -> None:
    _congruential(world).seed(seed)


@native("Rand::rand/0", "Random::random/0")
def number(world: World) -> int:
    return _feedback(world).number()


def _within(generator: Generator, least: Any, most: Any, base: str) -> Any:
    fraction = generator.fraction()
    return int(fraction * (most - least + 1) + least) if base == "int" else fraction * (most - least) + least


def _register(modules: tuple[str, ...], generator: Callable[[World], Generator]) -> None:
    @native(*(f"{module}::random/2" for module in modules), wants_bases=True)
    def scalar(world: World, least: Any, most: Any, *, bases: tuple[str, ...]) -> Any:
        return _within(generator(world), least, most, bases[0])

    @native(*(f"{module}::random/3" for module in modules), wants_bases=True)
    def array(world: World, shape: Any, least: Any, most: Any, *, bases: tuple[str, ...]) -> Any:
        wanted, source = extents(shape), generator(world)
        if not wanted:
            return _within(source, least, most, bases[1])
        dtype = np.dtype(np.int32 if bases[1] == "int" else np.float64)
        memory.check(wanted, dtype.itemsize)
        return np.fromiter(
            (_within(source, least, most, bases[1]) for _ in range(prod(wanted))), dtype, prod(wanted)
        ).reshape(wanted)


_register(("Rand", "Random"), _feedback)
_register(("Rand48",), _congruential)


@native("Xoshiro::srand_time/0")
def seed_from_clock(world: World) -> int:
    """The nanoseconds since 1970."""
    return world.now()
