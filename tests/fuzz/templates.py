"""Functions of shapes in the abstract, for random programs: what SaC programmers write, with symbolic extents.

In: a random generator and a name. Out: a `Template`: the text of a function (with whatever it needs), and its type, of
which the extents are numbers or letters that each call may choose. The letters are agreed on: a call that picks the
same number for the same letter is right.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.fuzz.choices import Shape

Symbolic = tuple[int | str, ...]


@dataclass(frozen=True)
class Template:
    """A function: its text, name, parameters and result. `least`: the smallest extent that its letters stand for."""

    text: str
    name: str
    params: tuple[tuple[str, Symbolic], ...]
    result: tuple[str, Symbolic]
    least: int = 0

    def letters(self) -> list[str]:
        """The extents that a call chooses."""
        return sorted({e for _, shape in (*self.params, self.result) for e in shape if isinstance(e, str)})


def at(shape: Symbolic, chosen: dict[str, int]) -> Shape:
    """A shape with its letters chosen."""
    return tuple(chosen[e] if isinstance(e, str) else e for e in shape)


def template(r: random.Random, name: str) -> Template:
    """Any one."""
    return r.choice(TEMPLATES)(r, name)


def _number(r: random.Random) -> str:
    return r.choice(("int", "double", "double", "float", "long"))


def _unit(base: str) -> str:
    return {"double": "1.0", "float": "1f", "long": "1l"}.get(base, "1")


def _zero(base: str) -> str:
    return {"double": "0.0", "float": "0f", "long": "0l"}.get(base, "0")


def product(r: random.Random, name: str) -> Template:
    """A matrix product, in several spellings; perhaps of a transposed matrix."""
    b = _number(r)
    body = r.choice((
        "{ [i,j] -> sum({ [l] -> a[i,l] * b[l,j] | [l] < [k] }) | [i,j] < [n,m] }",
        "with { ([0,0] <= [i,j] < [n,m]) : sum(a[i] * b[., j]); } : genarray([n,m], ZERO)",
        "{ [i,j] -> with { ([0] <= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, ZERO) | [i,j] < [n,m] }",
        "{ [i,j] -> sum(a[i] * transpose(b)[j]) | [i,j] < [n,m] }",
    )).replace("ZERO", _zero(b))  # fmt: skip
    return Template(
        f"{b}[n,m] {name}({b}[n,k] a, {b}[k,m] b)\n{{\n  return {body};\n}}\n\n",
        name,
        ((b, ("n", "k")), (b, ("k", "m"))),
        (b, ("n", "m")),
    )


def sums(r: random.Random, name: str) -> Template:
    """Several sums in a cell, as of complex numbers: beside each other, or combined."""
    b = _number(r)
    left, right = r.choice((("a[i,l]", "c[l,j]"), ("a[i,l]", "c[j,l]"), ("w[l]", "c[l,j]")))
    one, two = (
        f"sum({{ [l] -> {term} | [l] < [n] }})"
        for term in r.choice(
            (
                (f"{left} * {right}", right),
                (f"{left} - {right}", f"{left} * {right}"),
                (f"{left} * {right} - {right}", f"{left} * {right} + {left}"),
            )
        )
    )
    cell, rank = r.choice(
        (
            (f"[{one}, {two}]", (2,)),
            (f"[{two}, {one} - w[j]]", (2,)),
            (f"{one} - {two}", ()),
            (f"max({one}, {two}) * w[i]", ()),
            (f"[{one}, w[j], {two}]", (3,)),
        )
    )
    return Template(
        f"{b}[{','.join(('n', 'n', *map(str, rank)))}] {name}({b}[n,n] a, {b}[n,n] c, {b}[n] w)\n{{\n"
        f"  return {{ [i,j] -> {cell} | [i,j] < [n,n] }};\n}}\n\n",
        name,
        ((b, ("n", "n")), (b, ("n", "n")), (b, ("n",))),
        (b, ("n", "n", *rank)),
        1,
    )


def accumulated(r: random.Random, name: str) -> Template:
    """A product of matrices, or what is like one, by loops that add to elements, in any order."""
    b = _number(r)
    one = {"i": "for (i = 0; i < n; i++)", "j": "for (j = 0; j < m; j++)", "l": "for (l = 0; l < k; l++)"}
    order = r.choice(("ijl", "ilj", "jil", "jli", "lij", "lji"))
    term = r.choice(("a[i,l] * b[l,j]", "a[i,l] * b[l,j]", "b[l,j] - a[i,l]", "b[l,j]", "max(a[i,l], b[l,j])"))
    add = r.choice(
        (f"c[i,j] += {term};", f"c[i,j] = c[i,j] + {term};", f"c[i,j] = {term} + c[i,j];", f"t = {term}; c[i,j] += t;")
    )
    start = r.choice(("", "", f"  c = genarray([n,m], {_zero(b)});\n", f"  c = c * {_unit(b)} + c;\n"))
    loops = " { ".join(one[i] for i in order)
    return Template(
        f"{b}[n,m] {name}({b}[n,k] a, {b}[k,m] b, {b}[n,m] c)\n{{\n{start}  {loops} {{ {add} }} }} }}\n  return c;\n"
        f"}}\n\n",
        name,
        ((b, ("n", "k")), (b, ("k", "m")), (b, ("n", "m"))),
        (b, ("n", "m")),
    )


def chosen(r: random.Random, name: str) -> Template:
    """The place, or the value, of the element that comes before all others in some order."""
    b = _number(r)
    value = r.choice(("a[i]", "a[i]", "a[i] * a[i]", "a[i] - a[n - 1 - i]", "max(a[i], a[n / 2])"))
    how = r.choice(("<", "<=", ">", ">="))
    if b in ("int", "long") and r.random() < 0.4:  # which may be combined in any order
        pair = f"{name}Pair"
        text = (
            f"struct {pair} {{ {b} value; int place; }};\ninline struct {pair} {name}_first(struct {pair} a, "
            f"struct {pair} b)\n{{\n  return b.value {how[0]} a.value || (b.value == a.value && b.place < a.place) ? "
            f"b : a;\n}}\n"
        )
        given = r.choice((("int", "place"), (b, "value")))
        body = (
            f"  p = with {{ ([0] <= [i] < [n]) : {pair}{{{value}, i}}; }} : fold({name}_first, {pair}{{a[0], "
            f"0}});\n  return p.{given[1]};\n"
        )
        return Template(f"{text}{given[0]} {name}({b}[n] a)\n{{\n{body}}}\n\n", name, ((b, ("n",)),), (given[0], ()), 1)
    given = r.choice((("int", "place"), (b, "best"), ("int", "place + seen")))
    more = r.choice(("", "", " && i != 3", f" || {value} == {_zero(b)}"))
    text = (
        f"  best = {r.choice(('a[n - 1]', _unit(b)))};\n  place = -1;\n  seen = 0;\n"
        f"  for (i = 0; i < n; i++) {{ if ({value} {how} best{more}) {{ best = {value}; place = i; seen = "
        f"{r.choice(('i', 'place', '7'))}; }} }}\n"
    )
    return Template(
        f"{given[0]} {name}({b}[n] a)\n{{\n{text}  return {given[1]};\n}}\n\n", name, ((b, ("n",)),), (given[0], ()), 1
    )


def swept(r: random.Random, name: str) -> Template:
    """Loops that change an array in order, and read it where the index wraps around at one end or at both."""
    b = _number(r)
    wrapped = {
        "i - 1": r.choice(("mod(i - 1, n)", "(i + n - 1) % n", "(i == 0 ? n - 1 : i - 1)", "(i > 0 ? i - 1 : n - 1)")),
        "i + 1": r.choice(("mod(i + 1, n)", "(i + 1) % n", "(i == n - 1 ? 0 : i + 1)", "(i + 1 < n ? i + 1 : 0)")),
        "i + 2": r.choice(("mod(i + 2, n)", "(i + 2 < n ? i + 2 : i + 2 - n)")),
    }
    one, two = r.choice(list(wrapped.values())), r.choice(list(wrapped.values()))
    loop = r.choice(
        (
            "for (i = 0; i < n; i++)",
            "for (i = 0; i < n; i++)",
            "for (i = 1; i < n; i++)",
            "for (i = 0; i < n; i += 2)",
            "for (i = 1; i < n; i += 3)",
        )
    )
    if r.random() < 0.5:
        text = (
            f"  {loop} {{ v[i] = {r.choice(('v[i]', _unit(b)))} {r.choice('+-')} v[{one}] {r.choice('+-')} "
            f"v[{two}]; }}\n"
        )
        return Template(f"{b}[n] {name}({b}[n] v)\n{{\n{text}  return v;\n}}\n\n", name, ((b, ("n",)),), (b, ("n",)), 2)
    text = (
        f"  for (j = 0; j < m; j++) {{ {loop} {{ v[j,i] = v[{r.choice(('j', 'j', 'mod(j - 1, m)'))},{one}] "
        f"{r.choice('+-')} v[j,{two}]; }} }}\n"
    )
    return Template(
        f"{b}[m,n] {name}({b}[m,n] v)\n{{\n{text}  return v;\n}}\n\n", name, ((b, ("m", "n")),), (b, ("m", "n")), 2
    )


def relaxation(r: random.Random, name: str) -> Template:
    """A stencil that wraps around, is clamped, or leaves the border alone."""
    b = r.choice(("double", "float", "int"))
    sums = " + ".join(
        r.choice(
            (
                f"v[{_near(r, 'i', 'n')}, {_near(r, 'j', 'm')}]",
                f"v[i, {_near(r, 'j', 'm')}]",
                f"v[{_near(r, 'i', 'n')}, j]",
            )
        )
        for _ in range(r.randint(1, 5))
    )
    if r.random() < 0.4:
        text = (
            "with { ([1,1] <= [i,j] < [n - 1, m - 1]) : v[i - 1, j] + v[i + 1, j] - v[i, j - 1] * v[i, j + 1]; } : "
            "modarray(v)"
        )
    else:
        text = f"{{ [i,j] -> {sums} | [i,j] < [n,m] }}"
    return Template(
        f"{b}[n,m] {name}({b}[n,m] v)\n{{\n  return {text};\n}}\n\n", name, ((b, ("n", "m")),), (b, ("n", "m")), 2
    )


def assignments(r: random.Random, name: str) -> Template:
    """Nested loops that set each element once, perhaps in a branch only, from what another array has near by."""
    b = _number(r)
    first, last = r.choice((("0", "n"), ("1", "n"), ("0", "n - 1"), ("n / 2", "n"), ("2", "1")))
    old = r.choice(("w[i,j]", f"v[{_near(r, 'i', 'n')}, j]", _unit(b)))
    value = f"v[i, {_near(r, 'j', 'm')}] {r.choice(('+', '-', '*'))} {old}"
    update = r.choice(
        (
            f"w[i,j] = {value};",
            f"if (v[i,j] > {_zero(b)}) {{ w[i,j] = {value}; }}",
            f"if (i == n - 1) {{ w[i,j] = {value}; }} else {{ w[i,j] = v[i,j] * v[i,j]; }}",
        )
    )
    start = r.choice(("v", f"genarray([n,m], {_unit(b)})"))
    loops = r.choice(
        (
            f"for (i = {first}; i < {last}; i++) {{ for (j = 0; j < m; j++) {{ {update} }} }}",
            f"for (j = 0; j < m; j++) {{ for (i = {first}; i < {last}; i++) {{ {update} }} }}",
        )
    )
    return Template(
        f"{b}[n,m] {name}({b}[n,m] v)\n{{\n  w = {start};\n  {loops}\n  return w;\n}}\n\n",
        name,
        ((b, ("n", "m")),),
        (b, ("n", "m")),
        2,
    )


def _near(r: random.Random, index: str, extent: str) -> str:
    offset = r.choice(("- 1", "+ 1", "- 2", "+ 0"))
    return r.choice(
        (
            f"mod({index} {offset}, {extent})",
            f"min(max({index} {offset}, 0), {extent} - 1)",
            f"({extent} - 1 - {index})",
            f"({index} + 1 == {extent} ? 0 : {index} + 1)",
        )
    )


def solver(r: random.Random, name: str) -> Template:
    """A while loop that runs until little changes."""
    text = f"""double[n] {name}(double[n] start, double eps)
{{
  v = start;
  rounds = 0;
  change = 1.0;
  while (change > eps && rounds < {r.randint(1, 9)}) {{
    next = {{ [i] -> 0.25 * v[mod(i - 1, n)] + 0.5 * v[i] + 0.2 * v[{_near(r, "i", "n")}] | [i] < [n] }};
    change = maxval(abs(next - v));
    v = next;
    rounds += 1;
  }}
  return v;
}}

"""
    return Template(text, name, (("double", ("n",)), ("double", ())), ("double", ("n",)), 1)


def scan(r: random.Random, name: str) -> Template:
    """A for loop that updates an array from its own elements."""
    b = _number(r)
    step = r.choice(
        (
            f"v[i] = v[i - 1] {r.choice('+-*')} v[i];",
            "v[i] = v[n - i] + v[i - 1];",
            "v[i - 1] = v[i]; v[i] = v[0];",
            "t = v[i]; v[i] = v[i - 1]; v[i - 1] = t;",
        )
    )
    return Template(
        f"{b}[n] {name}({b}[n] v)\n{{\n  for (i = 1; i < n; i++) {{ {step} }}\n  return v;\n}}\n\n",
        name,
        ((b, ("n",)),),
        (b, ("n",)),
        0,
    )


def elimination(r: random.Random, name: str) -> Template:
    """Nested for loops that update a matrix in place."""
    b = r.choice(("double", "int"))
    inner = r.choice(("a[i,j] = a[i,j] - a[k,j] * a[i,k];", "a[i,j] = a[k,i] + a[i,j];", "a[i] = a[i] - a[k];"))
    first = r.choice(("k + 1", "0", "k"))
    loop = f"for (j = {first}; j < m; j++) {{ {inner} }}" if "j" in inner else inner
    text = (
        f"{b}[n,m] {name}({b}[n,m] a)\n{{\n  for (k = 0; k < min(n, m); k++) {{\n"
        f"    for (i = k + 1; i < min(n, m); i++) {{ {loop} }}\n  }}\n  return a;\n}}\n\n"
    )
    return Template(text, name, ((b, ("n", "m")),), (b, ("n", "m")), 0)


def nested(r: random.Random, name: str) -> Template:
    """A loop whose cells are loops, in the shape that makes one of higher rank."""
    b = _number(r)
    inner = r.choice(
        (
            "{ [j] -> v[i] * w[j] | [j] < [m] }",
            "v[i] * w",
            "with { ([0] <= [j] < [m]) : w[m - 1 - j] - v[i]; } : genarray([m], ZERO)",
        )
    ).replace("ZERO", _zero(b))
    text = f"{b}[n,m] {name}({b}[n] v, {b}[m] w)\n{{\n  return {{ [i] -> {inner} | [i] < [n] }};\n}}\n\n"
    return Template(text, name, ((b, ("n",)), (b, ("m",))), (b, ("n", "m")))


def scatter(r: random.Random, name: str) -> Template:
    """Additions to elements that the data choose."""
    b = r.choice(("int", "int", "long", "double"))
    size = r.choice((8, 16, 64, 64))  # of a small array the elements become variables
    text = (
        f"{b}[{size}] {name}(int[n] at, {b}[n] v)\n{{\n  h = genarray([{size}], {_zero(b)});\n"
        f"  for (i = 0; i < n; i++) {{ h[at[i] & {size - 1}] = h[at[i] & {size - 1}] + v[i]; }}\n  return h;\n}}\n\n"
    )
    return Template(text, name, (("int", ("n",)), (b, ("n",))), (b, (size,)))


def accumulation(r: random.Random, name: str) -> Template:
    """A for loop that only accumulates."""
    b = _number(r)
    step = r.choice(
        (
            "s += v[i] * w[i];",
            "s += v[i]; t = max(t, w[i]);",
            "s = v[i] * t + s;",
            "s = min(s, v[i]); t = t * w[n - 1 - i];",
        )
    )
    text = (
        f"{b} {name}({b}[n] v, {b}[n] w)\n{{\n  s = {_zero(b)};\n  t = {_unit(b)};\n"
        f"  for (i = {r.randint(0, 1)}; i < n; i++) {{ {step} }}\n  return s + t;\n}}\n\n"
    )
    return Template(text, name, ((b, ("n",)), (b, ("n",))), (b, ()))


def exchanged(r: random.Random, name: str) -> Template:
    """Rows that change places, or go on being used after they have been replaced."""
    b = _number(r)
    body = r.choice((
        "for (i = 0; i < n / 2; i++) { x = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = x; }",
        "for (i = 1; i < n; i++) { x = a[i]; a[i] = a[0]; a[0] = x + a[i]; }",
        "x = a[mod(k, n)]; a[mod(k, n)] = a[0]; a[n - 1] = x;",
        "x = a[n - 1]; a[n - 1] = a[0] * a[mod(k, n)]; a[0] = a[0] + x;",
        "for (i = 0; i < n; i++) { x = a[i]; a[i, mod(k, m)] = x[0]; a[n - 1 - i] = x; }",
    ))  # fmt: skip
    return Template(
        f"{b}[n,m] {name}({b}[n,m] a, int k)\n{{\n  {body}\n  return a;\n}}\n\n",
        name,
        ((b, ("n", "m")), ("int", ())),
        (b, ("n", "m")),
        1,
    )


def threaded(r: random.Random, name: str) -> Template:
    """A value that goes through all iterations in order."""
    cell = r.choice(("state + v[i]", "state * 3 + i", "max(state, v[i])"))
    text = (
        f"int[n], int {name}_both(int[n] v)\n{{\n  state = 1;\n"
        f"  a, state = with {{ ([0] <= [i] < [n]) {{ state = {cell}; }} : (state, state); }} : (genarray([n], 0), "
        f"propagate(state));\n  return (a, state);\n}}\n"
    )
    text += f"int[n] {name}(int[n] v)\n{{\n  a, s = {name}_both(v);\n  return a + s;\n}}\n\n"
    return Template(text, name, (("int", ("n",)),), ("int", ("n",)))


def histogram(r: random.Random, name: str) -> Template:
    """Counts by computed index."""
    head = r.choice((*("i = 0; i < n; i++",) * 3, "i = n - 1; i >= 0; i--"))
    size = r.choice((16, 32, 64))
    step = r.choice(("+= 1", "+= v[n - 1 - i]", "|= v[i]", "^= v[i] * i"))
    text = (
        f"int[{size}] {name}(int[n] v)\n{{\n  h = genarray([{size}], {r.randint(0, 3)});\n"
        f"  for ({head}) {{ h[v[i] & {size - 1}] {step}; }}\n  return h;\n}}\n\n"
    )
    return Template(text, name, (("int", ("n",)),), ("int", (size,)))


def extreme(r: random.Random, name: str) -> Template:
    """A fold over structs: the smallest element, and where it is."""
    s = f"At_{name}"
    less = r.choice(("a.v < b.v || (a.v == b.v && a.k < b.k)", "a.v > b.v || (a.v == b.v && a.k < b.k)"))
    text = f"""struct {s} {{ int v; int k; }};
inline struct {s} best_{name}(struct {s} a, struct {s} b) {{ return ({less}) ? a : b; }}
int[2] {name}(int[n] v)
{{
  found = with {{ ([0] <= [i] < [n]) : {s}{{v[i], i}}; }} : fold(best_{name},
    {s}{{{"2147483647" if "<" in less[:8] else "-2147483647"}, 2147483647}});
  return [found.v, found.k];
}}

"""
    return Template(text, name, (("int", ("n",)),), ("int", (2,)))


def chain(r: random.Random, name: str) -> Template:
    """A product of small matrices, or of affine maps: associative, not commutative."""
    if r.random() < 0.5:
        text = f"""struct Map_{name} {{ int a; int b; }};
inline struct Map_{name} after_{name}(struct Map_{name} f, struct Map_{name} g)
{{
  return Map_{name}{{f.a * g.a, f.a * g.b + f.b}};
}}
int[2] {name}(int[n] v, int[n] w)
{{
  m = with {{ ([0] <= [i] < [n]) : Map_{name}{{v[i], w[i]}}; }} : fold(after_{name}, Map_{name}{{1, 0}});
  return [m.a, m.b];
}}

"""
        return Template(text, name, (("int", ("n",)), ("int", ("n",))), ("int", (2,)))
    text = f"""inline int[2,2] times_{name}(int[2,2] a, int[2,2] b)
{{
  return {{ [i,j] -> a[i,0] * b[0,j] + a[i,1] * b[1,j] | [i,j] < [2,2] }};
}}
int[2,2] {name}(int[n,2,2] m)
{{
  return with {{ ([0] <= [i] < [n]) : m[i]; }} : fold(times_{name}, [[1,0],[0,1]]);
}}

"""
    return Template(text, name, (("int", ("n", 2, 2)),), ("int", (2, 2)))


def until(r: random.Random, name: str) -> Template:
    """A fold that stops once it has arrived."""
    text = (
        f"int {name}(int[n] v)\n{{\n  return with {{ ([0] <= [i] < [n]) : v[i] & 15; }} : foldfix(|, 0, "
        f"{r.choice((3, 7, 15))});\n}}\n\n"
    )
    return Template(text, name, (("int", ("n",)),), ("int", ()))


def scanned(r: random.Random, name: str) -> Template:
    """A scan of what an expression gives, with what comes before each element or without."""
    base, op, neutral = r.choice((("int", "+", "0"), ("int", "max", "-9"), ("int", "*", "1"), ("double", "+", "0.0")))
    value = r.choice(("v[i]", "v[i] + v[n - 1 - i]", "2 * v[i]")).replace("2", "2.0" if base == "double" else "2")
    lower, how = r.choice(("0", "0", "1")), r.choice(("scan", "exscan"))
    text = (
        f"{base}[.] {name}({base}[n] v)\n{{\n  return with {{ ([{lower}] <= [i] < [n]) : {value}; }} : {how}({op}, "
        f"{neutral});\n}}\n\n"
    )
    return Template(text, name, ((base, ("n",)),), (base, ("n",)))


def by_index(r: random.Random, name: str) -> Template:
    """Values combined with the elements of an array at places that the data say; some are outside where there are
    none."""
    base, op = r.choice((("int", "+"), ("int", "max"), ("int", "|"), ("double", "+"), ("double", "min")))
    place = r.choice(("mod(k[i], m)", "mod(k[i] + i, m)", "abs(k[i] % m)"))
    text = f"""{base}[m] {name}({base}[m] a, int[n] k, {base}[n] v)
{{
  return with {{ ([0] <= [i] < [n]) : ({place}, v[i]); }} : into(a, {op});
}}

"""
    return Template(text, name, ((base, ("m",)), ("int", ("n",)), (base, ("n",))), (base, ("m",)), 1)


def by_rank(r: random.Random, name: str) -> Template:
    """Overloads by rank; the one for arrays calls itself on what it consists of."""
    rank = r.randint(0, 3)
    step = r.choice(("a * 0.5 + 1.0", "-a", "sqrt(abs(a))"))
    text = f"""double {name}(double a) {{ return {step}; }}
double {name}(double[+] a)
{{
  return with {{ ([0] <= [i] < [shape(a)[0]]) : {name}(a[i]); }} : fold({r.choice("+*")}, 1.0);
}}

"""
    return Template(text, name, (("double", ("n", "m", "k")[:rank]),), ("double", ()))


def halves(r: random.Random, name: str) -> Template:
    """Recursion that takes arrays apart and puts them together again."""
    b = _number(r)
    join = r.choice(("left ++ right", "right ++ left", "{ [i] -> i < h ? left[i] : right[i - h] | [i] < [n] }"))
    text = f"""{b}[.] {name}({b}[.] v)
{{
  n = shape(v)[0];
  if (n > 2) {{
    h = n / 2;
    left = {name}(take([h], v));
    right = {name}(drop([h], v));
    r = {join};
  }} else {{
    r = {r.choice(("reverse(0, v)", f"v + {_unit(b)}"))};
  }}
  return r;
}}

"""
    return Template(text, name, ((b, ("n",)),), (b, ("n",)))


def selected(r: random.Random, name: str) -> Template:
    """Elements by condition: a result whose extent is known at the end."""
    text = f"""int {name}(int[n] v)
{{
  w = genarray([n], 0);
  k = 0;
  for (i = 0; i < n; i++) {{
    if (v[i] {r.choice((">", "<", "!="))} {r.randint(-3, 3)}) {{ w[k] = v[i]; k += 1; }}
  }}
  return sum(take([k], w) * iota(k)) + k;
}}

"""
    return Template(text, name, (("int", ("n",)),), ("int", ()))


def conditional(r: random.Random, name: str) -> Template:
    """A function with a condition on its argument's extents, and a name for the rest of the shape."""
    b = _number(r)
    text = f"{b}[n,d:shp] {name}({b}[n,d:shp] a) | (n > 0)\n{{\n  return {{ [i] -> a[n - 1 - i] | [i] < [n] }};\n}}\n\n"
    rest: Symbolic = ("m", "k")[: r.randint(1, 2)]
    return Template(text, name, ((b, ("n", *rest)),), (b, ("n", *rest)), 1)


def reference(r: random.Random, name: str) -> Template:
    """A function that changes its argument, called by one that does not."""
    b = _number(r)
    text = f"""void put_{name}({b}[.] &a, int k, {b} x) {{ a[k] = x; }}
{b}[n] {name}({b}[n] v, {b} x)
{{
  w = v;
  for (i = 0; i < n; i += {r.randint(1, 3)}) {{ put_{name}(w, i, v[n - 1 - i] + x); }}
  return w {r.choice(("+ v", "- v", ""))};
}}

"""
    return Template(text, name, ((b, ("n",)), (b, ())), (b, ("n",)))


def bodies(r: random.Random, name: str) -> Template:
    """Arrays of structs: fields are arrays."""
    s = f"Body_{name}"
    text = f"""struct {s} {{ double[2] pos; double mass; }};
inline struct {s} moved_{name}(struct {s} b, double by) {{ b.pos = b.pos + by; b.mass *= {r.choice(("0.5", "2.0"))};
  return b; }}
double[n,2] {name}(double[n,2] p, double[n] m)
{{
  all = with {{ ([0] <= [i] < [n]) : {s}{{p[i], m[i]}}; }} : genarray([n], {s}{{}});
  next = with {{ ([0] <= [i] < [n]) : moved_{name}(all[i], m[n - 1 - i]); }} : genarray([n], {s}{{}});
  next.pos += all.pos {r.choice("+-")} next.mass[0 * n];
  return {{ [i] -> with {{ ([0] <= [j] < [n]) : next[j].pos * all[i].mass; }} : fold(+, [0.0, 0.0]) | [i] < [n] }};
}}

"""
    return Template(text, name, (("double", ("n", 2)), ("double", ("n",))), ("double", ("n", 2)), 1)


def columns(r: random.Random, name: str) -> Template:
    """Folds along one axis, values that are arrays."""
    b = _number(r)
    body = r.choice((
        f"with {{ ([0] <= [i] < [n]) : a[i]; }} : fold({r.choice(('+', '*'))}, genarray([m], {_unit(b)}))",
        "{ [j] -> sum({ [i] -> a[i,j] | [i] < [n] }) | [j] < [m] }",
        "{ [j] -> maxval(a[., j]) | [j] < [m] }",
        f"with {{ ([0] <= [i] < [n]) : a[i] * a[n - 1 - i]; }} : fold(+, genarray([m], {_zero(b)}))",
    ))  # fmt: skip
    return Template(f"{b}[m] {name}({b}[n,m] a)\n{{\n  return {body};\n}}\n\n", name, ((b, ("n", "m")),), (b, ("m",)))


def contractions(r: random.Random, name: str) -> Template:
    """Sums inside cells that have more to do: before the sum, after it, both for rows and for columns."""
    b = _number(r)
    term = r.choice(
        (
            "a[i,l] * c[l,j]",
            "c[l,j]",
            "c[l,j] * a[i,l] - a[i,l]",
            "w[i] * (a[i,l] - c[l,j])",
            "c[l,j] * w[l]",
            "a[i,l] * c[j,l]",
        )
    )
    if r.random() < 0.5:
        total = f"sum({{ [l] -> {term} | [l] < [n] }})"
        body = r.choice((f"{{ [i,j] -> {total} * w[i] | [i,j] < [n,n] }}",
            f"{{ [i,j] -> max({total}, w[j]) - w[i] | [i,j] < [n,n] }}",
            f"{{ [i,j] -> a[j,i] + {total} | [i,j] < [n,n] }}",
                         f"{{ [i,j] -> sum({{ [l] -> a[i,j+l] * w[l] | [l] < [n/2+1] }}) | [i,j] < [n,n/2]; [i,j] -> "
                             f"{total} | [i,j] < [n,n] }}"))  # fmt: skip
    else:
        vector = term.replace("[l,j]", "[l]").replace("[j,l]", "[l]")
        round_ = f"s = s + {vector};" if "c[l]" in vector else f"s += c[l] * {vector};"
        body = r.choice((
            f"{{ [i] -> with {{ ([0] <= [l] < [n]) : {vector}; }} : fold(+, genarray([n], {_zero(b)})) | [i] < [n] }}",
            f"{{ [i] -> {name}_row(a, c, w, i) | [i] < [n] }}",
        ))  # fmt: skip
        row = (
            f"{b}[n] {name}_row({b}[n,n] a, {b}[n,n] c, {b}[n] w, int i)\n{{\n  s = genarray([n], {_unit(b)});\n"
            f"  for (l = {r.randint(0, 1)}; l < n; l++) {{ {round_} }}\n  return s;\n}}\n"
        )
        return Template(
            f"{row}{b}[n,n] {name}({b}[n,n] a, {b}[n,n] c, {b}[n] w)\n{{\n  return {body};\n}}\n\n",
            name,
            ((b, ("n", "n")), (b, ("n", "n")), (b, ("n",))),
            (b, ("n", "n")),
            1,
        )
    return Template(
        f"{b}[n,n] {name}({b}[n,n] a, {b}[n,n] c, {b}[n] w)\n{{\n  return {body};\n}}\n\n",
        name,
        ((b, ("n", "n")), (b, ("n", "n")), (b, ("n",))),
        (b, ("n", "n")),
        1,
    )


def assigned(r: random.Random, name: str) -> Template:
    """Rows, and matrices, that are computed and put into the array that they read."""
    b = _number(r)
    value = r.choice((
        "{ [j] -> a[i,j] - w[i] * a[k,j] | [j] < [m] }",
        "{ [j] -> j > k ? a[i,j] + a[k,j] : a[i,j] | [j] < [m] }",
        "{ [j] -> a[i,j] + a[i,m-1-j] | [j] < [m] }",
        "{ [j] -> a[k,m-1-j] * w[i] | [j] < [m] }",
        "with { ([1] <= [j] < [m]) : a[k,j] - a[i,j]; } : modarray(a[i])",
        "with { ([k] <= [j] < [k+1]) : w[i]; ([k+1] <= [j] < [m]) : a[i,j] * w[i]; } : modarray(a[i])",
        "with { ([0] <= [j] < [m - 1]) : a[i,j] + w[i]; } : modarray(a[k])",
        "a[i] - a[k] * w[k]",
        "{ [j] -> max(a[i,j], a[i,k] + a[k,j]) | [j] < [m] }",
    ))  # fmt: skip
    first = r.choice(("k + 1", "0", "k"))
    more = r.choice(("", " a[i,k] = w[i];", " a[k] = a[i] + a[k];"))
    text = (
        f"{b}[n,m] {name}({b}[n,m] a, {b}[n] w)\n{{\n  for (k = 0; k < min(n, m); k++) {{\n"
        f"    for (i = {first}; i < n; i++) {{ a[i] = {value};{more} }}\n  }}\n  return a;\n}}\n\n"
    )
    return Template(text, name, ((b, ("n", "m")), (b, ("n",))), (b, ("n", "m")), 1)


def stepped(r: random.Random, name: str) -> Template:
    """Arrays that are computed anew from themselves, step by step."""
    b = _number(r)
    unit = _unit(b)
    steps = r.choice((
        "x = x - w * x;", "x = x + y; y = y - x;", "y = x; x = x * w + y;",
        "x = { [i] -> x[i] > w[i] ? x[i] - w[i] : x[i] };", "x = { [i] -> x[i] + w[i] * y[n-1-i] }; y = y + x;",
        "x = where(x > y, x - y, y);", "x = { [i] -> x[n-1-i] + x[i] };",
        "s = x[0]; x = x + s; y = { [i] -> max(x[i], y[i]) };", f"x, y = {name}_both(x, y, w);",
    ))  # fmt: skip
    loop = r.choice(("for (t = 0; t < (k & 7); t++)", "t = 0; while (t < (k & 7))"))
    count = "" if loop.startswith("for") else " t = t + 1;"
    text = f"""inline {b}[n], {b}[n] {name}_both({b}[n] x, {b}[n] y, {b}[n] w) {{ return (x * w + y, y - x); }}

{b}[n] {name}({b}[n] w, {b}[n] y, int k)
{{
  x = w + {unit};
  {loop} {{ {steps}{count} }}
  return x + y;
}}

"""
    return Template(text, name, ((b, ("n",)), (b, ("n",)), ("int", ())), (b, ("n",)), 1)


def drafted(r: random.Random, name: str) -> Template:
    """Rows that are put down in a scratch array, which each round fills anew, or nearly."""
    b = _number(r)
    zero, unit = _zero(b), _unit(b)
    first, end = r.choice(("0",) * 6 + ("1",)), r.choice(("m",) * 6 + ("m - 1",))
    at = r.choice(("j", "j", "m - 1 - j"))
    filling = r.choice((
        f"t = {zero}; for (j = {first}; j < {end}; j++) {{ s[{at}] = a[i,j] * w[j]; t = max(t, s[{at}]); }}",
        f"t = a[i,0]; for (j = {first}; j < {end}; j++) {{ s[j] = a[i,j] - w[j]; }}",
        f"t = {zero}; for (j = {first}; j < {end}; j++) {{ s[{at}] = a[i,j] + t; t = t + w[j]; }}",
        f"t = {zero}; for (j = {first}; j < {end}; j++) {{ s[{at}] = a[i,j] + t; t = t + s[{at}] * w[j]; }}",
        f"t = {zero}; for (j = {first}; j < {end}; j++) {{ s[{at}] = a[i,j] * t; t = a[i,j] - t; }}",
        f"t = {zero}; for (j = {first}; j < {end}; j++) {{ t = t + s[{at}]; s[{at}] = a[i,j] + t; }}",
    ))  # fmt: skip
    using = r.choice((
        "for (j = 1; j < m; j++) { s[j] = s[j] - s[j - 1] * w[j]; }",
        "for (j = m - 1; j > 0; j--) { s[j] = s[j] - s[m - 1 - j]; }",
        "for (k = 0; k < m; k += 2) { for (j = 1; j < m; j++) { t = t + s[j] * w[k]; } }",
    ))  # fmt: skip
    last = r.choice(("sum(s) - t", "t + s[0]", "s[m - 1]"))
    after = r.choice(("",) * 6 + (" z[0] = s[m - 1];",))
    text = f"""{b}[n] {name}({b}[n,m] a, {b}[m] w)
{{
  s = genarray([m], {unit});
  z = genarray([n], {zero});
  for (i = 0; i < n; i++) {{ {filling} {using} z[i] = {last}; }}
 {after} return z;
}}

"""
    least = r.choice((1, 18, 18))  # small ones of known extents become scalars
    return Template(text, name, ((b, ("n", "m")), (b, ("m",))), (b, ("n",)), least)


def moving(r: random.Random, name: str) -> Template:
    """A vector of which a part that moves on from round to round is replaced."""
    b = _number(r)
    lower, upper = r.choice(
        (("t", "t + 2"), ("t", "min(n, 2 * t + 1)"), ("n - t - 2", "n - t"), ("max(t - 3, 0)", "t"))
    )
    cell = r.choice(
        (
            "x[n - 1 - i] + w[i]",
            "x[i / 2] - w[i]",
            "x[0] + x[n - 1] * w[i]",
            "max(x[(i * 3) % n], w[i])",
            "x[max(i - 2, 0)] - w[n - 1 - i]",
        )
    )
    if r.random() < 0.5:
        loop = (
            f"for (t = 0; t < n - 2; t++) {{ x = with {{ ([{lower}] <= [i] < [{upper}]) : {cell}; }} : modarray(x); }}"
        )
    else:
        loop = (
            f"a = 0; e = 1; while (a < n) {{ x = with {{ ([a] <= [i] < [e]) : {cell}; }} : modarray(x); a = e; e = "
            f"min(n, 2 * e); }}"
        )
    text = f"{b}[n] {name}({b}[n] x, {b}[n] w)\n{{\n  {loop}\n  return x;\n}}\n\n"
    return Template(text, name, ((b, ("n",)), (b, ("n",))), (b, ("n",)), 1)


def gathered(r: random.Random, name: str) -> Template:
    """Loops whose indices come out of arrays, where only a look at them tells whether they are right."""
    b = _number(r)
    last = r.choice(("n - 1", "n - 1", "n"))
    loop = r.choice((
        "for (i = 0; i < n; i++) { h[x[i]] = h[x[i]] + v[i]; }",
        "for (i = n - 1; i > 0; i -= 2) { h[x[i]] = h[x[n - i]] * v[i]; }",
        "for (i = 0; i < n; i += 3) { h[x[i]] = v[x[n - 1 - i]]; }",
        "for (i = 0; i < n; i++) { j = x[i] + 1; h[j - 1] = h[j / 2] + v[j - 1]; }",
    ))  # fmt: skip
    text = (
        f"{b}[n] {name}(int[n] at, {b}[n] v)\n{{\n  x = {{ [i] -> mod(at[i], n) | [i] < [n] }};\n"
        f"  x[n / 2] = min(at[0] & 63, {last});\n  h = v;\n  {loop}\n  return h;\n}}\n\n"
    )
    return Template(text, name, (("int", ("n",)), (b, ("n",))), (b, ("n",)), 1)


def coloured(r: random.Random, name: str) -> Template:
    """Points of one colour: those whose indices have an even sum, or an odd one, perhaps with a wrap around; in loops,
    or all at once."""
    b = _number(r)
    away = r.choice(("i + j", "i + j", "i - j", "j + 1", "i + 2 * j - 3", "i + j + c"))
    colour = r.choice(("== 0", "== 1", "!= 1", "== c"))
    condition = r.choice((f"({away}) % 2 {colour}", f"mod({away}, 2) {colour}"))
    new = f"v[{_near(r, 'i', 'n')}, j] {r.choice('+-*')} v[i, {r.choice(('j - 1', _near(r, 'j', 'm')))}]"
    around = (
        f"v[mod(i - 1, n), j] {r.choice('+-*')} v[i, mod(j {r.choice(('+ 1', '- 1', '+ 2'))}, m)] "
        f"{r.choice('+-')} v[{r.choice(('i, j', 'mod(i + 1, n), j', 'i, mod(j - 1, m)'))}]"
    )
    c = r.choice("01")
    mask = (
        f"mask = {{ [i,j] -> {condition}{r.choice(('', ' && i > 0 && j > 0', ' && i > 0 && j > 0 && j < m - 1'))} "
        f"| [i,j] < [n,m] }};"
    )
    moved = r.choice(("shift([0,1], v) + v", "rotate([1,0], v)", "rotate([0,1], v) + rotate([0,-1], v)"))
    text = r.choice((
        f"{mask}\n  w = where(mask, {moved}, v);\n  return where({r.choice(('mask', '!mask'))}, "
            f"{moved.replace('v', 'w')}, w);",
        f"for (i = 1; i < n; i++) {{ for (j = {r.choice('12')}; j < m; j++) {{ if ({condition}) {{ v[i,j] = {new}; }} "
            f"}} }}\n  return v;",
        f"for (i = 0; i < n; i++) {{ for (j = 1 + (i + c) % 2; j < m; j += {r.choice('223')}) {{ v[i,j] = {new}; }} "
            f"}}\n  return v;",
        f"return with {{ ([1,1] <= [i,j] < [n,m]) : {condition} ? {new} : v[i,j]; }} : modarray(v);",
        f"return {{ [i,j] -> {condition} ? v[i,j] : {new} | [1,1] <= [i,j] < [n,m - 1]; [i,j] -> v[i,j] | [i,j] < "
            f"[n,m] }};",
        f"for (k = 0; k < 3; k++) {{ v = with {{ ([0,c] <= [i,j] < [n,m] step [2,{r.choice('223')}]) : {around}; "
            f"([1,{r.choice(('1 - c', 'c', '1'))}] <= [i,j] < [n,m] step [2,2]) : {around}; }} : modarray(v); }}\n"
                "  return v;",
    ))  # fmt: skip
    return Template(
        f"{b}[n,m] {name}({b}[n,m] v)\n{{\n  c = {c};\n  {text}\n}}\n\n", name, ((b, ("n", "m")),), (b, ("n", "m")), 2
    )


def refined(r: random.Random, name: str) -> Template:
    """A finer grid from a coarser one, or the other way round, with indices that are divided or multiplied and may wrap
    around."""
    b, k = _number(r), r.choice((2, 2, 3, 4))
    if r.random() < 0.4:
        made = (
            f"{{ [i,j] -> v[mod({k} * i - 1, n), {k} * j] {r.choice('+-')} v[{k} * i, mod({k} * j + "
            f"{r.choice(('1', '- 1', '2'))}, m)] | [i,j] < [n / {k}, m / {k}] }}"
        )
        used = f"{{ [i,j] -> w[mod(i, n / {k}), mod(j, m / {k})] | [i,j] < [n,m] }}"
    else:
        last = r.choice(
            (
                f"mod((j + {r.choice('12')}) / {k}, m)",
                f"min((j + {k - 1}) / {k}, m - 1)",
                f"(j + {k} * m - 1) % ({k} * m) / {k}",
            )
        )
        made = (
            f"{{ [i,j] -> v[i / {k}, {last}] {r.choice('+-*')} v[mod((i + 1) / {k}, n), j / "
            f"{k}]{r.choice(('', f' * v[0, j / {k}]'))} | [i,j] < [{k} * n, {k} * m] }}"
        )
        used = f"{{ [i,j] -> w[{k} * i, {k} * j] + w[{k} * i + 1, {k} * j + {k - 1}] | [i,j] < [n,m] }}"
    text = f"{b}[n,m] {name}({b}[n,m] v)\n{{\n  w = {made};\n  w[0,0] = w[0,0] + {_unit(b)};\n  return {used};\n}}\n\n"
    return Template(text, name, ((b, ("n", "m")),), (b, ("n", "m")), k)


def _root(b: str, of: str) -> str:
    return f"sqrt({_unit(b)} + abs({of}))" if b in ("double", "float") else f"({of} * {of} / ({_unit(b)} + abs({of})))"


def pairwise(r: random.Random, name: str) -> Template:
    """Sums along a short axis, with weights of all pairs that take some work."""
    b, c = _number(r), r.randint(2, 4)
    apart = r.choice(("a[j] - a[i]", "a[i] * a[j]", "a[n - 1 - j] - w[i]"))
    weight = _root(b, r.choice(("sum(d[i,j] * d[i,j])", "sum(abs(d[i,j]))", "d[i,j,0] * d[j,i,1]")))
    total = r.choice(
        (
            "f[i] * d[i,.,c]",
            "{ [j] -> f[i,j] * d[j,i,c] + a[j,c] }",
            "{ [j] -> f[j,i] * a[j,c] }",
            f"{{ [j] -> {_root(b, 'a[i,0] * w[j]')} * d[i,j,c] | [j] < [n] }}",
        )
    )
    text = f"""{b}[n,{c}] {name}({b}[n,{c}] a, {b}[n] w)
{{
  d = {{ [i,j] -> {apart} | [i,j] < [n,n] }};
  f = {{ [i,j] -> w[j] {r.choice("*+")} {weight} | [i,j] < [n,n] }};
  return {{ [i,c] -> {r.choice(("", "a[i,c] - ", "w[i] * "))}sum({total}) | [i,c] < [n,{c}] }};
}}

"""
    return Template(text, name, ((b, ("n", c)), (b, ("n",))), (b, ("n", c)), 1)


def unpacked(r: random.Random, name: str) -> Template:
    """Cells of a few elements, put together from single ones, computed, and taken apart again."""
    b, c = _number(r), r.randint(2, 4)
    planes = r.choice((0, 1, 2))  # into a plane of an array of rank 3, or into a vector
    elements = (
        ("a[i,K]", "a[i,K] + w[i]", "w[n - 1 - i] * a[i,K]")
        if not planes or r.random() < 0.3
        else ("x[0,i]", f"x[{planes - 1},i]")
    )
    cell = ", ".join(r.choice(elements).replace("K", str(k)) for k in range(c))
    inner = r.choice(
        (
            "u[i - 1] * sum(u[i] + u[i + 1])",
            "(u[i + 1] - u[i - 1]) * sum(u[i] * u[i])",
            f"u[i] + {_root(b, 'sum(u[i])')}",
        )
    )
    low, high = r.choice((("1", "n - 1"), ("1", "n"), ("0", "n - 1")))
    row = max(planes - 1, 0)
    bounds = f"[{row},{low}] <= [l,i] < [{row + 1},{high}]" if planes else f"[{low}] <= [i] < [{high}]"
    into = [f"modarray({x})" if planes or r.random() < 0.5 else f"genarray([n], {_unit(b)})" for x in "xy"]
    first = f"{{ [l,i] -> a[i,l] * w[i] | [l,i] < [{planes},n] }}" if planes else "w * w"
    results = [f"{v}[{r.randrange(planes)}]" if planes else v for v in "pq"]
    start = "0, 0" if planes else "0"
    text = f"""{b}[n] {name}({b}[n,{c}] a, {b}[n] w)
{{
  x = {first};
  y = x {r.choice("+-")} w[0];
  u = {{ [i] -> [{cell}] | [i] < [n] }};
  v = with {{ ([1] <= [i] < [n - 1]) : {inner}; }} : modarray(u);
  p = with {{ ({bounds}) : v[{r.choice(("i", "i", "i", "n - 1 - i"))},0]; }} : {into[0]};
  q = with {{ ({bounds}) : v[i,{c - 1}]; }} : {into[1]};
  p[{start}] = {_unit(b)};
  q[{start}] = p[{start}] + q[{start}];
  return {results[0]} {r.choice("+-*")} {results[1]};
}}

"""
    return Template(text, name, ((b, ("n", c)), (b, ("n",))), (b, ("n",)), 1)


def growing(r: random.Random, name: str) -> Template:
    """An array whose rank depends on a value: this stays interpreted."""
    text = f"""double {name}(double[n] v, int k)
{{
  double[*] a;
  a = v;
  for (j = 0; j < (k & 3); j++) {{ a = [a, a {r.choice("+*")} 2.0]; }}
  return sum(a);
}}

"""
    return Template(text, name, (("double", ("n",)), ("int", ())), ("double", ()))


def placed(r: random.Random, name: str) -> Template:
    """Rows and blocks that are taken out of a matrix, changed by loops and put back; what loops make, put together."""
    b = _number(r)
    across = r.choice(("j = 2; j < m - 2; j++", "j = m - 3; j >= 2; j--", "j = 2; j < m - 2; j += 2"))
    near = f"a[i + {r.randint(-2, 2)},j + {r.randint(-2, 2)}]"
    begun = r.choice(("a[i]", "a[i]", "a[i - 1]", "reverse(a[i])"))
    row = f"r = {begun}; for ({across}) {{ r[j] = r[j - {r.randint(0, 2)}] - {near}; }}"
    rows = f"for (i = 2; i < n - 2; i++) {{ {row} a[i - {r.choice((0, 0, 0, 1))}] = r; }}"
    inner = r.choice((f"a[r + y + {r.randint(-1, 1)},c + z]", f"a[r + y,c + z + {r.randint(-1, 1)}]", _unit(b)))
    blocks = f"""side = n / 3; for (r = 1; r + side < n; r += side) {{ for (c = 1; c + side < m; c += side) {{
    t = {{ [i,j] -> a[r + i, c + j] | [i,j] < [side,side] }};
    for (y = 1; y < side; y++) {{ for (z = 1; z < side; z++) {{ t[y,z] = t[y - 1,z] - {inner}; }} }}
    a = with {{ ([r,c] <= [i,j] < [r + side,c + side]) : t[i - r,j - c]; }} : modarray(a); }} }}"""
    parts = f"""r = a[0]; for (j = 1; j < m; j++) {{ r[j] = r[j - 1] - r[j]; }}
  s = a[n - 1]; for (j = 1; j < m; j++) {{ s[j] = s[j - 1] - a[1,j]; }}
  w = {r.choice(("r ++ s", "reverse(r) ++ s", "s ++ r ++ s"))};
  a[2] = take([m], w);"""
    body = r.choice((rows, blocks, blocks, parts))
    text = f"{b}[n,m] {name}({b}[n,m] a)\n{{\n  {body}\n  return a;\n}}\n\n"
    return Template(text, name, ((b, ("n", "m")),), (b, ("n", "m")), least=6)


def distributed(r: random.Random, name: str) -> Template:
    """Values that go where counters say: those for which a condition holds, or all, in the order of digits."""
    b, digits = _number(r), r.choice((2, 5, 16))
    condition = r.choice(("v[i] > w[i]", "k[i] % 3 == 0", "i % 2 == 1", "v[i] < w[n - 1 - i]"))
    value = r.choice(("v[i]", "v[i] + w[i]", "w[n - 1 - i]"))
    digit = r.choice((f"abs(k[i] % {digits})", f"(i + abs(k[i] % 3)) % {digits}", f"abs(k[n - 1 - i] % {digits})"))
    two = r.random() < 0.5
    some = f"""p = 0;
  for (i = 0; i < n; i++) {{
    if ({condition}) {{ a[p] = {value}; {"c[p] = i;" if two else ""} p = p + 1; }}
  }}"""
    always = f"""a = a ++ [{_zero(b)}]; p = {r.choice((0, 0, 1))};
  for (i = p; i < n; i++) {{ a[p] = {value}; p = p + toi({condition}); }}
  a = take([n], a);"""
    order = f"""next = genarray([{digits}], 0);
  for (i = 0; i < n; i++) {{ d = {digit}; next[d] = next[d] + 1; }}
  total = 0;
  for (d = 0; d < {digits}; d++) {{ many = next[d]; next[d] = total; total = total + many; }}
  for (i = 0; i < n; i++) {{
    d = {digit}; p = next[d]; a[p] = {value}; {"c[p] = i;" if two else ""} next[d] = p + 1;
  }}"""
    body = r.choice((some, always, order, order))
    text = f"""{b}[n] {name}(int[n] k, {b}[n] v, {b}[n] w)
{{
  a = {r.choice(("v", "w", "v - w"))};
  c = k;
  {body}
  return {{ [i] -> c[i] % 2 == 0 ? a[i] : -a[i] | [i] < [n] }};
}}

"""
    return Template(text, name, (("int", ("n",)), (b, ("n",)), (b, ("n",))), (b, ("n",)), least=1)


def apart(r: random.Random, name: str) -> Template:
    """Cells of a few elements that neighbours need, each by itself, or all."""
    b, many = _number(r), r.choice((2, 3, 3, 4))
    terms = ("t", "t * t", "s - t", "max(s, t)", "t + a[0,i,j]", "s * a[0,i,j] - t")
    cell = ", ".join(r.choice(terms) for _ in range(many))
    by = r.choice(("[DIRECTIONS[k,0], 1 - k]", "[k, 0]", "DIRECTIONS[k]", "[-1, k - 1]"))
    directions = [[r.randint(-2, 2), r.randint(-2, 2)] for _ in range(many)]
    plane = "{ [i,j] -> w[i,j,k] | [i,j] < [n,m] }"
    planes = r.choice((f"rotate({by}, {plane})", f"shift({by}, {_zero(b)}, {plane})", plane, f"reverse({plane})"))
    last = many - 1
    body = r.choice((
        f"{{ [k] -> {planes} | [k] < [{many}] }}",
        f"{{ [k] -> {planes} | [k] < [{many}] }}",
        f"{{ [k] -> k < 1 ? {planes} : a[0] | [k] < [{many}] }}",
        f"{{ [k,i,j] -> w[n - 1 - i,j,{last} - k] + w[i,m - 1 - j,k] | [k,i,j] < [{many},n,m] }}",
        f"[{', '.join(f'{{ [i,j] -> w[i,m - 1 - j,{k}] - w[n - 1 - i,j,{(k + 1) % many}] }}' for k in range(many))}]",
    )).replace("DIRECTIONS", str(directions))  # fmt: skip
    text = f"""{b}[{many},n,m] {name}({b}[{many},n,m] a)
{{
  w = with {{
        (. <= [i,j] <= .) {{ s = sum({{ [k] -> a[k,i,j] | [k] < [{many}] }}); t = s * s - a[{last},i,j]; }} : [{cell}];
      }} : genarray([n,m], genarray([{many}], {_zero(b)}));
  return {body};
}}

"""
    return Template(text, name, ((b, (many, "n", "m")),), (b, (many, "n", "m")))


def handed_on(r: random.Random, name: str) -> Template:
    """Cells of a few elements that rounds carry, computed from neighbours, in one step or two."""
    b, many = _number(r), r.choice((2, 3, 4))
    at = ("i,j", "n - 1 - i,j", "i,m - 1 - j", "max(i - 1, 0),j", "i,(j + 1) % m")
    half = {"int": "/ 2", "long": "/ 2l", "double": "* 0.5", "float": "* 0.5f"}[b]

    def cell(array: str) -> str:
        def element() -> str:
            x, y = (f"{array}[{r.choice(at)},{r.randrange(many)}]" for _ in range(2))
            return r.choice((x, f"({x} + {y}) {half}", f"{x} - {y}", f"({x} < {y} ? {x} : {y} {half})"))

        return r.choice((
            f"[{', '.join(element() for _ in range(many))}]",
            f"{{ [k] -> {array}[{r.choice(at)},k] | [k] < [{many}] }}",
            f"{array}[{r.choice(at)}]",
        ))  # fmt: skip

    steps = r.choice((("a",), ("a",), ("c", "a")))
    body = "\n".join(
        f"    {new} = {{ [i,j] -> {cell(old)} | [i,j] < [n,m] }};" for new, old in zip(steps, ("a", *steps))
    )
    head = r.choice(("for (t = 0; t < 3; t++) {", "t = 0;\n  while (t < n) {\n    t++;", "for (t = 0; t < m; t++) {"))
    text = f"{b}[n,m,{many}] {name}({b}[n,m,{many}] a)\n{{\n  {head}\n{body}\n  }}\n  return a;\n}}\n\n"
    return Template(text, name, ((b, ("n", "m", many)),), (b, ("n", "m", many)))


def pointers(r: random.Random, name: str) -> Template:
    """An index that goes on, back or nowhere in each round, as the data say."""
    b = _number(r)
    first, steps = r.choice((("0", (0, 1, 1)), ("m - 1", (0, -1, -1)), ("0", (0, 1, 2)), ("1", (-1, 0, 1))))
    at = r.choice(("j", "j", "max(min(j, m - 1), 0)"))
    loop = r.choice(("i = 0; i < n; i++", "i = 0; i < m; i++", "i = n - 1; i >= 0; i--", "i = 0; i < n; i += 2"))
    ways = [f"r[{at}] = x{r.choice(('', ' + x', f' - {_unit(b)}'))}; j = j + {r.choice(steps)};" for _ in range(2)]
    skip = f"if ({r.choice(('j < m && ', 'j >= 0 && ', 'j < m && j >= 0 && '))}x > {_zero(b)}) {{ {ways[0]} }}"
    body = r.choice((skip, f"if (x > {_zero(b)}) {{ {ways[0]} }} else {{ {ways[1]} }}"))
    text = f"""{b}[m] {name}({b}[n] a, {b}[m] r)
{{
  j = {first};
  for ({loop}) {{
    x = a[i % n];
    {body}
  }}
  return j >= 0 && j < m ? {{ [i] -> r[i] + to{b[0]}(j) * r[j] | [i] < [m] }} : r;
}}

"""
    return Template(text, name, ((b, ("n",)), (b, ("m",))), (b, ("m",)), least=1)


def tables(r: random.Random, name: str) -> Template:
    """Columns of a table that all points need, or all rounds."""
    b, many = _number(r), r.choice((3, 5, 6, 8))
    used = r.sample(range(many), r.randint(1, min(many, 4)))
    at = r.choice(("i", "i", "i", "n - 1 - i"))
    terms = [f"a[{at},{k}]" for k in used] + [r.choice(("x[p]", "a[p % n,0]", f"a[i,{r.choice(used)}]"))]
    value = " + ".join(f"{r.choice(terms)} * {t}" for t in terms)
    below = r.choice(("n", "n", "n", "n - 1"))
    if r.random() < 0.3:
        value = f"({r.choice(terms)} < x[p] ? {value} : a[i,{many - 1}])"
    points = f"{{ [p] -> {r.choice(('sum', 'maxval', 'sum'))}({{ [i] -> {value} | [i] < [{below}] }}) | [p] < [m] }}"
    rounds = f"{{ [p] -> x[p] + sum({{ [i] -> {value} | [i] < [{below}] }}) | [p] < [m] }}"
    body = r.choice((
        f"  return {points};",
        f"  for (t = 0; t < {r.choice(('3', '5', 'm'))}; t++) {{\n    x = {rounds};\n  }}\n  return x;",
    ))  # fmt: skip
    text = f"{b}[m] {name}({b}[n,{many}] a, {b}[m] x)\n{{\n{body}\n}}\n\n"
    return Template(text, name, ((b, ("n", many)), (b, ("m",))), (b, ("m",)), least=1)


def bordered(r: random.Random, name: str) -> Template:
    """An array with a border around it, whatever that is, and what reads it at neighbours."""
    b, rank = _number(r), r.choice((1, 2, 2))
    i, n = ("i", "j")[:rank], ("n", "m")[:rank]
    before, behind = ([r.randint(0, 2) for _ in i] for _ in range(2))
    own = [f"{x} - {k}" if k else x for x, k in zip(i, before)]

    def joined(texts: Iterable[str]) -> str:
        return ",".join(texts)

    ways = ("mod({a}, {n})", "mod({a}, {n})", "min(max({a}, 0), {n} - 1)", "abs({n} - 1 - abs({n} - 1 - {a})) % {n}")
    outside = r.choice((
        f"a[{joined(r.choice(ways).format(a=a, n=k) for a, k in zip(own, n))}]", _zero(b),
        f"to{b[0]}({i[0]}) * {_unit(b)}",
    ))  # fmt: skip
    extents = [f"{k} + {x + y}" for k, x, y in zip(n, before, behind)]
    inner = f"[{joined(map(str, before))}] <= [{joined(i)}] < [{joined(f'{k} + {x}' for k, x in zip(n, before))}]"
    value = r.choice(("a[{}]", "a[{}]", "{u} - a[{}]", "abs(a[{}])")).format(joined(own), u=_unit(b))
    parts = [f"[{joined(i)}] -> {value} | {inner}", f"[{joined(i)}] -> {outside} | [{joined(i)}] < [{joined(extents)}]"]
    if r.random() < 0.3:
        first = f"[{joined(['0'] * rank)}] <= [{joined(i)}] < [{joined([str(r.randint(0, 2)), *extents[1:]])}]"
        parts.insert(0, f"[{joined(i)}] -> {_unit(b)} | {first}")
    scale = r.choice(("", "", "", "2 * "))
    reads = []
    for _ in range(r.randint(1, 5)):
        shifts = [r.randint(0, x + y) for x, y in zip(before, behind)]
        reads.append(f"w[{joined(f'{scale}{x} + {k}' for x, k in zip(i, shifts))}]")
    below = [f"({k} + 1) / 2" for k in n] if scale else list(n)
    result = f"{{ [{joined(i)}] -> {r.choice((' + ', ' - ')).join(reads)} | [{joined(i)}] < [{joined(below)}] }}"
    if not scale and r.random() < 0.3:
        made = f"for (t = 0; t < 3; t++) {{ w = {{ {'; '.join(parts)} }}; a = {result}; }}\n  return a;"
    else:
        out = (
            result
            if not scale
            else f"{{ [{joined(i)}] -> q[{joined(f'{x} / 2' for x in i)}] | [{joined(i)}] < [{joined(n)}] }}"
        )
        made = f"w = {{ {'; '.join(parts)} }};\n  " + (f"q = {result};\n  " if scale else "") + f"return {out};"
    text = f"{b}[{joined(n)}] {name}({b}[{joined(n)}] a)\n{{\n  {made}\n}}\n\n"
    return Template(text, name, ((b, n),), (b, n), least=1)


TEMPLATES: tuple[Callable[[random.Random, str], Template], ...] = (
    product, sums, relaxation, solver, scan, elimination, histogram, extreme, chain, until, scanned, by_index, by_rank,
    halves, selected, conditional, reference, bodies, columns, growing, accumulation, threaded, nested, scatter,
    exchanged, assignments,
    contractions, assigned, gathered, histogram, scatter, scatter, exchanged, assignments,
    contractions, contractions, scatter, assigned, gathered, nested, columns, drafted, accumulation, product, stepped,
    stepped,
    accumulated, accumulated, accumulated, accumulated, accumulated, accumulated, accumulated, accumulated, chosen,
    chosen, swept, swept, swept, swept, extreme, columns, columns, columns, contractions, drafted, drafted, drafted,
    drafted, drafted, drafted, drafted, drafted, drafted,
    # again, since the passes that look for them seldom find one elsewhere
    coloured, coloured, coloured, coloured, refined, refined, drafted, drafted, drafted, drafted, drafted, drafted,
    drafted, drafted, moving, moving, moving, moving, pairwise, pairwise, unpacked, unpacked, unpacked, unpacked,
    unpacked, unpacked, chain, accumulated, scatter, scatter, pairwise, pairwise, placed, placed, placed, placed,
    placed, placed, placed, placed, distributed, distributed, apart, apart, apart, apart,
    pointers, pointers, pointers, tables, tables, tables, tables, handed_on, handed_on, handed_on, handed_on,
    bordered, bordered, bordered, bordered,
)  # fmt: skip
