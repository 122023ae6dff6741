"""What the Python made of PTX calls, under one name: arithmetic and conversions."""

from tests.ptx.conversions import cvt, to_tf32
from tests.ptx.floats import fadd, fdiv, fma, fmul, fsqrt, ftz, greatest, gross, least, single
from tests.ptx.integers import (
    bfe,
    bfi,
    bfind,
    borrow,
    brev,
    carry,
    clz,
    funnel,
    idiv,
    irem,
    lop3,
    mulhi,
    popc,
    prmt,
    shift,
    wide,
)  # fmt: skip

__all__ = [
    "bfe", "bfi", "bfind", "borrow", "brev", "carry", "clz", "cvt", "fadd", "fdiv", "fma", "fmul", "fsqrt", "ftz",
    "funnel", "greatest", "gross", "idiv", "irem", "least", "lop3", "mulhi", "popc", "prmt", "shift", "single",
    "to_tf32", "wide",
]  # fmt: skip
