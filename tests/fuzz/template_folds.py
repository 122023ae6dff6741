"""Products, sums, scans and other folds, in the spellings that programs have for them."""

from __future__ import annotations

import random

from tests.fuzz.template import Symbolic, Template, number_type, one_of, root, zero_of


def product(r: random.Random, name: str) -> Template:
    """A matrix product, in several spellings; perhaps of a transposed matrix."""
    b = number_type(r)
    body = r.choice((
        "{ [i,j] -> sum({ [l] -> a[i,l] * b[l,j] | [l] < [k] }) | [i,j] < [n,m] }",
        "with { ([0,0] <= [i,j] < [n,m]) : sum(a[i] * b[., j]); } : genarray([n,m], ZERO)",
        "{ [i,j] -> with { ([0] <= [l] < [k]) : a[i,l] * b[l,j]; } : fold(+, ZERO) | [i,j] < [n,m] }",
        "{ [i,j] -> sum(a[i] * transpose(b)[j]) | [i,j] < [n,m] }",
    )).replace("ZERO", zero_of(b))  # fmt: skip
    return Template(
        f"{b}[n,m] {name}({b}[n,k] a, {b}[k,m] b)\n{{\n  return {body};\n}}\n\n",
        name,
        ((b, ("n", "k")), (b, ("k", "m"))),
        (b, ("n", "m")),
    )


def sums(r: random.Random, name: str) -> Template:
    """Several sums in a cell, as of complex numbers: beside each other, or combined."""
    b = number_type(r)
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
    b = number_type(r)
    one = {"i": "for (i = 0; i < n; i++)", "j": "for (j = 0; j < m; j++)", "l": "for (l = 0; l < k; l++)"}
    order = r.choice(("ijl", "ilj", "jil", "jli", "lij", "lji"))
    term = r.choice(("a[i,l] * b[l,j]", "a[i,l] * b[l,j]", "b[l,j] - a[i,l]", "b[l,j]", "max(a[i,l], b[l,j])"))
    add = r.choice(
        (f"c[i,j] += {term};", f"c[i,j] = c[i,j] + {term};", f"c[i,j] = {term} + c[i,j];", f"t = {term}; c[i,j] += t;")
    )
    start = r.choice(("", "", f"  c = genarray([n,m], {zero_of(b)});\n", f"  c = c * {one_of(b)} + c;\n"))
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
    b = number_type(r)
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
    more = r.choice(("", "", " && i != 3", f" || {value} == {zero_of(b)}"))
    text = (
        f"  best = {r.choice(('a[n - 1]', one_of(b)))};\n  place = -1;\n  seen = 0;\n"
        f"  for (i = 0; i < n; i++) {{ if ({value} {how} best{more}) {{ best = {value}; place = i; seen = "
        f"{r.choice(('i', 'place', '7'))}; }} }}\n"
    )
    return Template(
        f"{given[0]} {name}({b}[n] a)\n{{\n{text}  return {given[1]};\n}}\n\n", name, ((b, ("n",)),), (given[0], ()), 1
    )


def swept(r: random.Random, name: str) -> Template:
    """Loops that change an array in order, and read it where the index wraps around at one end or at both."""
    b = number_type(r)
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
            f"  {loop} {{ v[i] = {r.choice(('v[i]', one_of(b)))} {r.choice('+-')} v[{one}] {r.choice('+-')} "
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


def scan(r: random.Random, name: str) -> Template:
    """A for loop that updates an array from its own elements."""
    b = number_type(r)
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


def accumulation(r: random.Random, name: str) -> Template:
    """A for loop that only accumulates."""
    b = number_type(r)
    step = r.choice(
        (
            "s += v[i] * w[i];",
            "s += v[i]; t = max(t, w[i]);",
            "s = v[i] * t + s;",
            "s = min(s, v[i]); t = t * w[n - 1 - i];",
        )
    )
    text = (
        f"{b} {name}({b}[n] v, {b}[n] w)\n{{\n  s = {zero_of(b)};\n  t = {one_of(b)};\n"
        f"  for (i = {r.randint(0, 1)}; i < n; i++) {{ {step} }}\n  return s + t;\n}}\n\n"
    )
    return Template(text, name, ((b, ("n",)), (b, ("n",))), (b, ()))


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
    b = number_type(r)
    text = f"{b}[n,d:shp] {name}({b}[n,d:shp] a) | (n > 0)\n{{\n  return {{ [i] -> a[n - 1 - i] | [i] < [n] }};\n}}\n\n"
    rest: Symbolic = ("m", "k")[: r.randint(1, 2)]
    return Template(text, name, ((b, ("n", *rest)),), (b, ("n", *rest)), 1)


def reference(r: random.Random, name: str) -> Template:
    """A function that changes its argument, called by one that does not."""
    b = number_type(r)
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
    b = number_type(r)
    body = r.choice((
        f"with {{ ([0] <= [i] < [n]) : a[i]; }} : fold({r.choice(('+', '*'))}, genarray([m], {one_of(b)}))",
        "{ [j] -> sum({ [i] -> a[i,j] | [i] < [n] }) | [j] < [m] }",
        "{ [j] -> maxval(a[., j]) | [j] < [m] }",
        f"with {{ ([0] <= [i] < [n]) : a[i] * a[n - 1 - i]; }} : fold(+, genarray([m], {zero_of(b)}))",
    ))  # fmt: skip
    return Template(f"{b}[m] {name}({b}[n,m] a)\n{{\n  return {body};\n}}\n\n", name, ((b, ("n", "m")),), (b, ("m",)))


def contractions(r: random.Random, name: str) -> Template:
    """Sums inside cells that have more to do: before the sum, after it, both for rows and for columns."""
    b = number_type(r)
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
        zero = zero_of(b)
        round_ = f"s = s + {vector};" if "c[l]" in vector else f"s += c[l] * {vector};"
        body = r.choice((
            f"{{ [i] -> with {{ ([0] <= [l] < [n]) : {vector}; }} : fold(+, genarray([n], {zero})) | [i] < [n] }}",
            f"{{ [i] -> {name}_row(a, c, w, i) | [i] < [n] }}",
        ))  # fmt: skip
        row = (
            f"{b}[n] {name}_row({b}[n,n] a, {b}[n,n] c, {b}[n] w, int i)\n{{\n  s = genarray([n], {one_of(b)});\n"
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


def pairwise(r: random.Random, name: str) -> Template:
    """Sums along a short axis, with weights of all pairs that take some work."""
    b, c = number_type(r), r.randint(2, 4)
    apart = r.choice(("a[j] - a[i]", "a[i] * a[j]", "a[n - 1 - j] - w[i]"))
    weight = root(b, r.choice(("sum(d[i,j] * d[i,j])", "sum(abs(d[i,j]))", "d[i,j,0] * d[j,i,1]")))
    total = r.choice(
        (
            "f[i] * d[i,.,c]",
            "{ [j] -> f[i,j] * d[j,i,c] + a[j,c] }",
            "{ [j] -> f[j,i] * a[j,c] }",
            f"{{ [j] -> {root(b, 'a[i,0] * w[j]')} * d[i,j,c] | [j] < [n] }}",
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
