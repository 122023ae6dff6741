"""Random programs of updates and aliases mean the same whether arrays are updated in place or always copied."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interp.tools import run

HELPERS = """
int[.] set(int[.] a, int i, int v) { a[i] = v; return a; }
int[.] same(int[.] a) { return a; }
int[.] choose(int[.] a, int[.] b, bool c) { if (c) { r = a; } else { r = b; } return r; }
int[.], int[.] both(int[.] a, int[.] b) { a[0] = b[1] + 1; return (b, a); }
int[.], int[.] twice(int[.] a) { return (a, a); }
void bump(int[.] &a) { a[2] = a[2] + 1; }
int[.] deep(int[.] a, int n) { if (n > 0) { b = deep(a, n - 1); b[n] = b[n] + a[0]; a = b; } return a; }
int[.] fill(int[.] a, int v) { for (i = 0; i < 4; i++) { a[i] = a[i] + v; } return a; }
"""
NAMES = st.sampled_from(["a", "b", "c"])
SMALL = st.integers(0, 3)


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> str:
    """A statement over the variables a, b and c, all vectors of four ints."""
    x, y, z, i, j = draw(NAMES), draw(NAMES), draw(NAMES), draw(SMALL), draw(SMALL)
    simple = [
        f"{x} = {y};", f"{x}[{i}] = {y}[{j}] + {i};", f"{x} = set({y}, {i}, {j});", f"{x} = same({y});",
        f"{x} = choose({y}, {z}, {y}[{i}] > {j});", f"bump({x});", f"{x} = deep({y}, {j});",
        f"{x} = fill({y}, {i});", f"{x} = reshape([4], {y});",
        f"{x} = reshape([2, 2], {y})[{i % 2}] ++ reshape([2, 2], {z})[{j % 2}];", f"{x} = {y} + {z};",
        f"{x} = genarray([4], {i});",
        f"{x} = with {{ ([{min(i, j)}] <= [k] < [{max(i, j)}]) : {z}[k] + 1; }} : modarray({y});",
        f"{x} = with {{ ([0] <= [k] < [{i}]) : k; }} : fold(fill, {y});", f"{x} = [{i}, 2, {j}, 4];",
        f"m = reshape([2, 2], {y}); m[{i % 2}] = [{i}, {j}]; {x} = reshape([4], m);",
    ]  # fmt: skip
    if x != y:
        simple += [f"{x}, {y} = both({x}, {y});", f"{x}, {y} = twice({z});", f"t = {x}; {x} = {y}; {y} = t;"]
    if depth and draw(st.integers(0, 3)) == 0:
        inner = " ".join(draw(st.lists(statements(depth - 1), min_size=1, max_size=3)))
        other = " ".join(draw(st.lists(statements(depth - 1), min_size=0, max_size=2)))
        name = f"n{depth}"
        return draw(
            st.sampled_from(
                [
                    f"if ({x}[{i}] > {j}) {{ {inner} }} else {{ {other} }}",
                    f"for ({name} = 0; {name} < 3; {name}++) {{ {inner} }}",
                    f"{name} = 0; do {{ {inner} {name}++; }} while ({name} < 2);",
                ]
            )
        )
    return draw(st.sampled_from(simple))


@settings(max_examples=60, deadline=None)
@given(st.lists(statements(), min_size=3, max_size=12))
def test_updates_in_place_are_never_seen_through_an_alias(body: list[str]) -> None:
    text = (
        HELPERS
        + "int main() { a = iota(4); b = a; c = [5, 6, 7, 8]; "
        + "\n".join(body)
        + " print(a); print(b); print(c); return 0; }"
    )
    assert run(text).out == run(text, always_copy=True).out


def test_a_merge_of_one_array_with_itself_shares_it() -> None:
    text = (
        HELPERS
        + "int main() { a = iota(4); b = a; if (a[0] > 0) { if (a[0] > 0) { a = a; } else { } } else { } b = fill(b, "
        "3); print(a); return 0; }"
    )
    assert run(text).out == run(text, always_copy=True).out
