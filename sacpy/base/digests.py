"""Digests of what is kept and of what it is made of: BLAKE2b, from Python's own routine. `hashlib` would load OpenSSL,
which takes longer than all digests of a start."""

from __future__ import annotations

from functools import partial

try:
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b

SIZE = 32  # bytes

new_digest = partial(blake2b, digest_size=SIZE)
