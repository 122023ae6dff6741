"""Gravity between all pairs of bodies, which are structs in SaC. Size: bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

SIZES = {"small": 8, "cached": 300, "large": 3000}
STEPS = 4
SOFTENING = 0.01


def inputs(n: int) -> tuple[Any, ...]:
    i = np.arange(3 * n)
    return (
        np.sin(i * 1.7).reshape(n, 3),
        np.cos(i * 0.9).reshape(n, 3) * 0.1,
        0.5 + np.arange(n) % 5 / 4.0,
        0.001,
        STEPS,
    )


def numpy_version(pos: Any, vel: Any, mass: Any, dt: float, steps: int) -> Any:
    for _ in range(steps):
        d = pos[None, :, :] - pos[:, None, :]
        r2 = np.einsum("ijc,ijc->ij", d, d) + SOFTENING
        vel = vel + np.einsum("ijc,ij->ic", d, mass / (r2 * np.sqrt(r2))) * dt
        pos = pos + vel * dt
    return pos, vel


def c_version(lib: Any, pos: Any, vel: Any, mass: Any, dt: float, steps: int) -> Any:
    pos_out, vel_out = np.empty_like(pos), np.empty_like(vel)
    lib.nbody(pos_out, vel_out, pos, vel, mass, dt, steps, len(mass))
    return pos_out, vel_out
