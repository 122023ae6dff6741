"""With-loops in SaC, whose results on the interpreter of PTX must be those of the interpreter of SaC."""

from tests.ptx.cases.bases import MADE as BASES
from tests.ptx.cases.blocks import MADE as BLOCKS
from tests.ptx.cases.case import Case
from tests.ptx.cases.distributed import MADE as DISTRIBUTED
from tests.ptx.cases.folds import MADE as FOLDS
from tests.ptx.cases.loop_tiles import MADE as LOOP_TILES
from tests.ptx.cases.mappings import MADE as MAPPINGS
from tests.ptx.cases.maps import MADE as MAPS

CASES: list[Case] = [
    *MAPS.all,
    *FOLDS.all,
    *BASES.all,
    *MAPPINGS.all,
    *BLOCKS.all,
    *LOOP_TILES.all,
    *DISTRIBUTED.all,
]

__all__ = ["CASES", "Case"]
