"""The random number generators give the sequences of the algorithms they are named after."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sacpy.interp.natives.randoms import Congruential, Feedback
from tests.tools import run_text

USES = "use StdIO: all; use Array: all; use Xoshiro: all;\n"
STATES = {64: ("State256", "ul", (1, 2, 3, 4)), 32: ("State128", "u", (0xDEADBEEF, 2, 0x80000001, 0xFFFFFFFF))}
State = tuple[int, int, int, int]


def step(width: int, state: State) -> State:
    """The state that follows, as Blackman and Vigna define it."""
    mask = (1 << width) - 1
    shift, turn = (17, 45) if width == 64 else (9, 11)
    s0, s1, s2, s3 = state
    t = s1 << shift & mask
    s2, s3 = s2 ^ s0, s3 ^ s1
    s1, s0 = s1 ^ s2, s0 ^ s3
    return s0, s1, s2 ^ t, (s3 << turn | s3 >> width - turn) & mask


def scrambled(width: int, kind: str, state: State) -> int:
    """The number that a state gives."""
    mask = (1 << width) - 1

    def turned(x: int, k: int) -> int:
        return (x << k | (x & mask) >> width - k) & mask

    match kind:
        case "p":
            return state[0] + state[3] & mask
        case "pp":
            return turned(state[0] + state[3] & mask, 23 if width == 64 else 7) + state[0] & mask
    return turned(state[1] * 5 & mask, 7) * 9 & mask


@pytest.mark.parametrize("kind", ["p", "pp", "ss"])
@pytest.mark.parametrize("width", [64, 32])
def test_xoshiro_gives_the_reference_sequence(width: int, kind: str) -> None:
    name, suffix, state = STATES[width]
    initial = ", ".join(f"{s}{suffix}" for s in state)
    program = (
        f"{USES}int main() {{ s = {name}{{ {initial} }}; for (i = 0; i < 40; i++) {{ x, s = "
        f'xoshiro{4 * width}{kind}(s); printf("%lu\\n", toul(x)); }} return 0; }}'
    )
    expected = []
    for _ in range(40):
        expected.append(scrambled(width, kind, state))
        state = step(width, state)
    assert [int(line) for line in run_text(program).stdout.split()] == expected


def advanced(width: int, state: State, squarings: int, times: int) -> State:
    """The state `times` * 2^`squarings` steps on, by powers of the step's matrix over bits: column k is where bit k
    goes."""
    bits = 4 * width

    def pack(s: State) -> int:
        return sum(part << width * i for i, part in enumerate(s))

    def unpack(n: int) -> State:
        a, b, c, d = (n >> width * i & (1 << width) - 1 for i in range(4))
        return a, b, c, d

    def apply(columns: list[int], vector: int) -> int:
        result = 0
        while vector:
            low = vector & -vector
            result ^= columns[low.bit_length() - 1]
            vector ^= low
        return result

    columns = [pack(step(width, unpack(1 << k))) for k in range(bits)]
    for _ in range(squarings):
        columns = [apply(columns, column) for column in columns]
    vector = pack(state)
    for _ in range(times):
        vector = apply(columns, vector)
    return unpack(vector)


def test_jumps_of_the_32_bit_generator_are_powers_of_its_step() -> None:
    state = STATES[32][2]
    initial = ", ".join(f"{s}u" for s in state)
    program = (
        f'{USES}int main() {{ s = advance(State128{{ {initial} }}, 5); printf("%u %u %u %u\\n", s.s0, s.s1, '
        f"s.s2, s.s3); return 0; }}"
    )
    assert tuple(map(int, run_text(program).stdout.split())) == advanced(32, state, 96, 5)


def test_jumps_of_the_64_bit_generator_are_powers_of_its_step() -> None:
    program = (
        USES
        + 'int main() { s = advancel(State256{ 1ul, 2ul, 3ul, 4ul }, 2); printf("%lu %lu %lu %lu\\n", s.s0l, s.s1l, '
        "s.s2l, s.s3l); return 0; }"
    )
    assert tuple(map(int, run_text(program).stdout.split())) == advanced(64, (1, 2, 3, 4), 193, 1)


def test_states_of_an_array_are_in_row_major_order() -> None:
    program = (
        USES
        + """int main() {
        start = State128{ 1u, 2u, 3u, 4u };
        states = seed_arr([2,2], start);
        for (k = 0; k < 4; k++) { s = states[k / 2, k % 2]; other = advance(start, k);
          printf("%d", toi(s.s0 == other.s0 & s.s3 == other.s3)); }
        return 0; }"""
    )
    assert run_text(program).stdout == b"1111"


def test_normal_numbers_have_mean_and_deviation() -> None:
    program = (
        USES
        + """int main() {
        s = State256{ 0x9e3779b97f4a7c15ul, 0xbf58476d1ce4e5b9ul, 0x94d049bb133111ebul, 4ul }; n = 0; sum = 0.0;
          squares = 0.0;
        while (n < 2000) { u, s = xoshiro256p(s); v, s = xoshiro256p(s); a, b = to_normal(u, v, 10.0, 2.0);
          sum += a + b; squares += a * a + b * b; n += 2; }
        mean = sum / tod(n); printf("%f %f\\n", mean, squares / tod(n) - mean * mean); return 0; }"""
    )
    mean, variance = map(float, run_text(program).stdout.split())
    assert abs(mean - 10) < 0.2
    assert abs(variance - 4) < 0.4


@pytest.mark.parametrize(
    ("seed", "numbers"),
    [
        (0, [1804289383, 846930886, 1681692777]),
        (1, [1804289383, 846930886, 1681692777]),
        (42, [71876166, 708592740, 1483128881]),
        (4000000000, [1111130805, 1380198982, 1306113867]),
    ],
)
def test_random_gives_what_glibc_gives(seed: int, numbers: list[int]) -> None:
    generator = Feedback(seed)
    assert [generator.number() for _ in numbers] == numbers


@pytest.mark.parametrize(
    ("seed", "number"), [(42, 0.74452500006100664), (1, 0.041630344771878214), (-5, 0.81681649277834723)]
)
def test_rand48_gives_what_drand48_gives(seed: int, number: float) -> None:
    assert Congruential(seed).fraction() == number


def nas(x: int) -> Callable[[], float]:
    """The NAS generator in integers."""
    state = x

    def number() -> float:
        nonlocal state
        state = state * 5**13 % 2**46
        return state / 2**46

    return number


def test_randlc_is_the_nas_generator() -> None:
    program = (
        "use StdIO: all; use Array: all; use RandLC: all; int main() { g = create_randlc(314159265.0, "
        '1220703125.0); for (i = 0; i < 100; i++) { r = randlc(g); printf("%.17g\\n", r); } return 0; }'
    )
    number = nas(314159265)
    assert [float(line) for line in run_text(program).stdout.split()] == [number() for _ in range(100)]


def test_numbers_stay_within_their_bounds() -> None:
    program = (
        "use StdIO: all; use Array: all; use Random: all; int main() { a = random([1000], 1, 6); b = "
        'random([1000], -1.0, 1.0); printf("%d %d %d\\n", minval(a), maxval(a), toi(all(b >= -1.0 & b < 1.0))); '
        "return 0; }"
    )
    assert run_text(program).stdout == b"1 6 1\n"


def test_an_empty_array_of_numbers_is_empty() -> None:
    program = (
        'use StdIO: all; use Array: all; use Rand: all; int main() { printf("%d %d\\n", shape(random([0], 1, '
        "6))[0], rand()); return 0; }"
    )
    assert run_text(program).stdout == b"0 1804289383\n"
