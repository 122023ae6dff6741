"""The library has everything that the language reference's table of the standard library names."""

from __future__ import annotations

import pytest

from sacpy.documents.library import Library
from sacpy.lang.source import NOWHERE

LIBRARY = Library()

CONVERSIONS = "tob tosh toi tol toll toub tous toui toul toull tof tod tobool"
ELEMENTWISE = f"+ - * / % mod min max abs ++ -- ^ | & << >> == != < <= > >= ! {CONVERSIONS}"
MATHS = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp expm1 log log2 log10 log1p pow sqrt "
    "cbrt hypot fabs floor ceil rint fmod modf frexp ldexp copysign isnan isinf"
)
CLASSES = "isdigit isalpha isupper islower isxdigit isspace ispunct isalnum isprint isgraph iscntrl tolower toupper"
PREFIXES = "cumsum cumprod cummax cummin"
COMPLEX = "toc real imag norm normSq arg conj polar i + - * / == sum"
NUMBERS = "byte short int long longlong ubyte ushort uint ulong ulonglong float double"
DISPLAYS = "createDisplay initDisplay drawArray destroyDisplay"
SCANS = " ".join(f"scan{t} fscan{t}" for t in f"{NUMBERS} char bool string".split())

TABLE = {
    "ScalarArith": f"{ELEMENTWISE} zero one",
    "ArrayArith": f"{ELEMENTWISE} zero one",
    "ArrayBasics": "dim shape sel reshape genarray modarray iota",
    "ArrayReduce": "sum prod minval maxval any all rsum",
    "ArrayTransform": "take drop tile ++ ++^ reverse rotate shift transpose where mask",
    "ArrayTransformApl": "take_apl drop_apl tile_apl",
    "Math": f"{MATHS} pi e",
    "MathArray": f"{MATHS} l2norm",
    "Complex": COMPLEX,
    "ComplexBasics": "toc real imag norm normSq arg polar i",
    "Quaternion": "toq tod + *",
    "String": "sprintf sscanf strlen strcat strcmp strtake strdrop strsel strmod strins strstr strtok trim toi tof "
    "tod tos isdigit toupper",
    "Char": CLASSES,
    "List": "nil cons hd tl append nth length take drop",
    "StdIO": f"printf fprintf print show scanf fscanf {SCANS} fopen fclose fgets feof FibreScanIntArray "
    "FibreScanDoubleArray FibrePrint binfopen binfclose binfReadDoubleArray binfWriteDoubleArray",
    "CommandLine": "argc argv",
    "Environment": "GetEnv ExistEnv SetEnv UnsetEnv EnvCount IndexEnv",
    "Process": "popen pclose system",
    "FileSystem": "rename remove symlink access isdir isreg islnk filesize getcwd chdir mkdir rmdir P_tmpdir mkdtemp",
    "Dir": "opendir closedir readdir rewinddir telldir seekdir",
    "RTClock": "gettime touch",
    "RTimer": "createRTimer destroyRTimer startRTimer stopRTimer resetRTimer getRTimerLong getRTimerDbl",
    "MTClock": "gettime touch timediff",
    "Benchmarking": "getInterval start end returnResultUnit",
    "SysErr": "fail clear strerror Enoent Eacces",
    "RuntimeError": "error",
    "Clock": "gettime mktime sec min hour mday mon year wday yday clock date isdst isleap difftime ctime strftime "
    "strptime sleep",
    "Bool": "to_bool",
    "PNG": "readPNG writePNG",
    "PPM": "readPPM printPPM",
    "SDLdisplay": DISPLAYS,
    "Color8": "newColor red green blue rgb toi tod + - * genLinearClut Hsb2Rgb",
    "Xoshiro": "xoshiro256p xoshiro256pp xoshiro256ss xoshiro128p xoshiro128pp xoshiro128ss advance advancel seed_arr "
    "seed_arrl srand128 srand256 to_uniform to_normal",
    "Random": "random srandom",
    "Rand": "random rand srandom",
    "RandLC": "create_randlc delete_randlc randlc",
    "Constants": " ".join(f"min{t} max{t}" for t in NUMBERS.split()) + " tinydouble epidouble",
    "ArrayFormat": "format",
    "Scan": " ".join(f"{s}{form}" for s in PREFIXES.split() for form in ("", "_exclusive", "_reverse", "_by_flags")),
    "Histogram": "bincount histogram histogram_edges scatter_add scatter_min scatter_max scatter_last occurs",
    "Sort": "sort argsort sort_by argsort_by sort_by_key is_sorted unique unique_counts unique_inverse group_by "
    "searchsorted searchsorted_right",
    "Slice": "slice modslice",
    "Segmented": "segment_sum segment_prod segment_max segment_min segment_any segment_all segment_cumsum "
    "segment_ids segment_lengths segment_offsets spmv",
    "Statistics": "sum prod minval maxval any all mean var std sample_var sample_std median quantile",
    "Select": "nonzero argwhere where filter compress argmax argmin bottomk bottomk_indices topk topk_indices",
    "Hiding": "hideValue hideShape hideDim",
}
UMBRELLAS = {
    "Array": ["ScalarArith", "ArrayArith", "ArrayBasics", "ArrayReduce", "ArrayTransform", "ArrayTransformApl"],
    "Structures": ["Array", "Char", "String", "Complex", "Color8", "Quaternion", "List"],
    "StdIO": ["ArrayIO", "ScalarIO", "File", "TermFile", "BinFile", "FibreIO", "ComplexIO"],
    "Numerical": ["Math", "MathArray"],
    "System": ["Clock", "CommandLine", "Environment", "FileSystem", "RuntimeError", "SysErr", "Terminal", "World"],
}
NAMES_ONLY = ["Interval", "Terminal", "World", "IOresources"]
"""Modules that have types and objects, but no functions."""


@pytest.mark.parametrize("module", TABLE)
def test_a_module_of_the_table_lacks_nothing(module: str) -> None:
    scope = LIBRARY.world.scope(module, NOWHERE)
    assert [name for name in TABLE[module].split() if not scope.exported(name)] == []


@pytest.mark.parametrize("umbrella", UMBRELLAS)
def test_an_umbrella_hands_on_all_of_its_parts(umbrella: str) -> None:
    scope = LIBRARY.world.scope(umbrella, NOWHERE)
    for part in UMBRELLAS[umbrella]:
        inner = LIBRARY.world.scope(part, NOWHERE)
        names = LIBRARY.info(part).functions
        assert [n for n in names if inner.exported(n) and not set(inner.exported(n)) <= set(scope.exported(n))] == [], (
            part
        )


@pytest.mark.parametrize("module", NAMES_ONLY)
def test_modules_of_types_and_objects_are_there(module: str) -> None:
    assert LIBRARY.types(module) or LIBRARY.objects(module) or LIBRARY.gathered(module)
