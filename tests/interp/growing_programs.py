"""Random programs whose arrays grow, shrink, are updated and are known by several names, over any base type.

In: Hypothesis's choices. Out: the text of a program that prints what it ends up with. No array gets long.
"""

from __future__ import annotations

from hypothesis import strategies as st

LITERALS = {
    "int": ("7", "0", "-3"), "double": ("7.5", "-0.0", "0.0 / 0.0"), "float": ("7.5f", "0f", "-2f"),
    "bool": ("true", "false", "true"), "char": ("'a'", "'z'", "' '"), "byte": ("7b", "0b", "-3b"),
    "long": ("7l", "0l", "-3l"), "ulong": ("7ul", "0ul", "3ul"), "short": ("7s", "0s", "-3s"),
    "complex": ("toc(1.0, 2.0)", "toc(0.0, -1.0)", "toc(3.0, 0.5)"),
}  # fmt: skip
HELPERS = """
struct Box {{ {T}[.] held; int age; }};
{T}[.] push({T}[.] a, {T} x) {{ return a ++ [x]; }}
{T}[.] unshift({T} x, {T}[.] a) {{ return [x] ++ a; }}
{T}[.] same({T}[.] a) {{ return a; }}
{T}[.] set({T}[.] a, {T} x) {{ if (shape(a)[0] > 0) {{ a[0] = x; }} return a; }}
{T}[.], {T}[.] both({T}[.] a, {T}[.] b) {{ return (b ++ a, a); }}
{T}[.] often({T}[.] a, {T} x, int n) {{ for (i = 0; i < n; i++) {{ a = i % 2 == 0 ? a ++ [x] : [x] ++ a; }} return a; }}
{T}[.] deep({T}[.] a, {T} x, int n) {{ if (n > 0) {{ a = deep(a ++ [x], x, n - 1); }} return a; }}
struct Box older(struct Box s, {T} x) {{ return Box{{ s.held ++ [x], s.age + 1 }}; }}
"""
START = (
    "a = [:{T}]; b = genarray([5], {0}); c = [{0}, {1}, {2}, {0}]; m = genarray([2, 3], {1}); k = m; s = Box{{ c, "
    "0 }}; t = s;"
)
END = "print(a); print(b); print(c); print(m); print(k); print(s.held); print(t.held); print(s.age);"
LONGEST = 1500
VECTORS, MATRICES, BOXES = (st.sampled_from(names) for names in ("abc", "mk", "st"))


@st.composite
def statements(draw: st.DrawFn, base: str, depth: int = 2) -> str:
    """A statement over the variables of START."""
    x, y, z, m, k, s, t = (draw(names) for names in (VECTORS, VECTORS, VECTORS, MATRICES, MATRICES, BOXES, BOXES))
    v, w = (draw(st.sampled_from(LITERALS[base])) for _ in range(2))
    n = draw(st.integers(0, 3))
    simple = [
        f"{x} = {y};", f"{x} = {y} ++ {z};", f"{x} = {x} ++ {y};", f"{x} = {y} ++ {x};", f"{x} = {x} ++ [{v}];",
        f"{x} = [{v}] ++ {x};", f"{x} = {y} ++ {v};", f"{x} = {v} ++ {y};", f"{x} = [{v}] ++ {y} ++ [{w}, {v}];",
        f"{x} = drop([min({n}, shape({y})[0])], {y}) ++ [{v}];",
        f"{x} = [{v}] ++ drop([-min({n}, shape({y})[0])], {y});", f"{x} = drop([min({n}, shape({x})[0])], {x});",
        f"{x} = take([min({n}, shape({y})[0])], {y}) ++ {z};",
        f"{x} = push({y}, {v});", f"{x} = unshift({v}, {y});", f"{x} = same({y}) ++ same({z});",
        f"{x}, {y} = both({y}, {x});" if x != y else f"{x} = {y};", f"{x} = set({y}, {v});",
        f"{x} = set({y} ++ [{v}], {w});", f"{x} = deep({y}, {v}, {n});",
        f"{x} = often({y}, {v}, {4 * n});",
        f"p = reshape([shape({y})[0], 1], {y}) ++ [[{v}]]; {x} = reshape([shape(p)[0]], p);",
        f"{x} = reverse({y}) ++ {y};", f"{m} = {m} ++ [genarray([3], {v})];", f"{m} = [genarray([3], {v})] ++ {m};",
        f"{m} = {m} ++ {k};", f"{m} = {k};", f"{m} = {v} ++ {m};", f"{m} = drop([1], {m} ++ [[{v}, {w}, {v}]]);",
        f"if (shape({m})[0] > 0) {{ {x} = {m}[0] ++ {y}; }}", f"{s} = older({t}, {v});",
        f"{s} = Box{{ {x} ++ {t}.held, {n} }};", f"{s} = {t};", f"{x} = {s}.held ++ {y};",
        f"if (shape({s}.held)[0] > 0) {{ {s}.held[0] = {v}; }}",
        f"if (shape({x})[0] > 0) {{ {x}[shape({x})[0] - 1] = {v}; }}",
    ]  # fmt: skip
    if depth and draw(st.integers(0, 3)) == 0:
        inner = " ".join(draw(st.lists(statements(base, depth - 1), min_size=1, max_size=3)))
        name = f"n{depth}"
        return draw(
            st.sampled_from(
                [
                    f"if (shape({x})[0] > {n}) {{ {inner} }} else {{ {x} = {y} ++ {z}; }}",
                    f"for ({name} = 0; {name} < 4; {name}++) {{ {inner} }}",
                    f"{name} = 0; while ({name} < 3) {{ {inner} {name}++; }}",
                ]
            )
        )
    size = " + ".join(f"shape({name})[0]" for name in (x, y, z, m, k, f"{s}.held", f"{t}.held"))
    return f"if ({size} < {LONGEST}) {{ {draw(st.sampled_from(simple))} }}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A whole program."""
    base = draw(st.sampled_from(sorted(LITERALS)))
    head = "use Array: all; use StdIO: all; use Structures: all; "
    body = "\n".join(draw(st.lists(statements(base), min_size=3, max_size=12)))
    return (
        head
        + HELPERS.format(T=base)
        + "int main() { "
        + START.format(*LITERALS[base], T=base)
        + body
        + END
        + " return 0; }"
    )
