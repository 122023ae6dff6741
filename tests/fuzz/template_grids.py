"""Neighbours on grids, parts of arrays, borders, colours, refinements, and arrays of cells."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.fuzz.template import Template, near, number_type, one_of, root, zero_of


def relaxation(r: random.Random, name: str) -> Template:
    """A stencil that wraps around, is clamped, or leaves the border alone."""
    b = r.choice(("double", "float", "int"))
    sums = " + ".join(
        r.choice(
            (
                f"v[{near(r, 'i', 'n')}, {near(r, 'j', 'm')}]",
                f"v[i, {near(r, 'j', 'm')}]",
                f"v[{near(r, 'i', 'n')}, j]",
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


def halves(r: random.Random, name: str) -> Template:
    """Recursion that takes arrays apart and puts them together again."""
    b = number_type(r)
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
    r = {r.choice(("reverse(0, v)", f"v + {one_of(b)}"))};
  }}
  return r;
}}

"""
    return Template(text, name, ((b, ("n",)),), (b, ("n",)))


def moving(r: random.Random, name: str) -> Template:
    """A vector of which a part that moves on from round to round is replaced."""
    b = number_type(r)
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


def coloured(r: random.Random, name: str) -> Template:
    """Points of one colour: those whose indices have an even sum, or an odd one, perhaps with a wrap around; in loops,
    or all at once."""
    b = number_type(r)
    away = r.choice(("i + j", "i + j", "i - j", "j + 1", "i + 2 * j - 3", "i + j + c"))
    colour = r.choice(("== 0", "== 1", "!= 1", "== c"))
    condition = r.choice((f"({away}) % 2 {colour}", f"mod({away}, 2) {colour}"))
    new = f"v[{near(r, 'i', 'n')}, j] {r.choice('+-*')} v[i, {r.choice(('j - 1', near(r, 'j', 'm')))}]"
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
    b, k = number_type(r), r.choice((2, 2, 3, 4))
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
    text = f"{b}[n,m] {name}({b}[n,m] v)\n{{\n  w = {made};\n  w[0,0] = w[0,0] + {one_of(b)};\n  return {used};\n}}\n\n"
    return Template(text, name, ((b, ("n", "m")),), (b, ("n", "m")), k)


def unpacked(r: random.Random, name: str) -> Template:
    """Cells of a few elements, put together from single ones, computed, and taken apart again."""
    b, c = number_type(r), r.randint(2, 4)
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
            f"u[i] + {root(b, 'sum(u[i])')}",
        )
    )
    low, high = r.choice((("1", "n - 1"), ("1", "n"), ("0", "n - 1")))
    row = max(planes - 1, 0)
    bounds = f"[{row},{low}] <= [l,i] < [{row + 1},{high}]" if planes else f"[{low}] <= [i] < [{high}]"
    into = [f"modarray({x})" if planes or r.random() < 0.5 else f"genarray([n], {one_of(b)})" for x in "xy"]
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
  p[{start}] = {one_of(b)};
  q[{start}] = p[{start}] + q[{start}];
  return {results[0]} {r.choice("+-*")} {results[1]};
}}

"""
    return Template(text, name, ((b, ("n", c)), (b, ("n",))), (b, ("n",)), 1)


def placed(r: random.Random, name: str) -> Template:
    """Rows and blocks that are taken out of a matrix, changed by loops and put back; what loops make, put together."""
    b = number_type(r)
    across = r.choice(("j = 2; j < m - 2; j++", "j = m - 3; j >= 2; j--", "j = 2; j < m - 2; j += 2"))
    near = f"a[i + {r.randint(-2, 2)},j + {r.randint(-2, 2)}]"
    begun = r.choice(("a[i]", "a[i]", "a[i - 1]", "reverse(a[i])"))
    row = f"r = {begun}; for ({across}) {{ r[j] = r[j - {r.randint(0, 2)}] - {near}; }}"
    rows = f"for (i = 2; i < n - 2; i++) {{ {row} a[i - {r.choice((0, 0, 0, 1))}] = r; }}"
    inner = r.choice((f"a[r + y + {r.randint(-1, 1)},c + z]", f"a[r + y,c + z + {r.randint(-1, 1)}]", one_of(b)))
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


def apart(r: random.Random, name: str) -> Template:
    """Cells of a few elements that neighbours need, each by itself, or all."""
    b, many = number_type(r), r.choice((2, 3, 3, 4))
    terms = ("t", "t * t", "s - t", "max(s, t)", "t + a[0,i,j]", "s * a[0,i,j] - t")
    cell = ", ".join(r.choice(terms) for _ in range(many))
    by = r.choice(("[DIRECTIONS[k,0], 1 - k]", "[k, 0]", "DIRECTIONS[k]", "[-1, k - 1]"))
    directions = [[r.randint(-2, 2), r.randint(-2, 2)] for _ in range(many)]
    plane = "{ [i,j] -> w[i,j,k] | [i,j] < [n,m] }"
    planes = r.choice((f"rotate({by}, {plane})", f"shift({by}, {zero_of(b)}, {plane})", plane, f"reverse({plane})"))
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
      }} : genarray([n,m], genarray([{many}], {zero_of(b)}));
  return {body};
}}

"""
    return Template(text, name, ((b, (many, "n", "m")),), (b, (many, "n", "m")))


def tables(r: random.Random, name: str) -> Template:
    """Columns of a table that all points need, or all rounds."""
    b, many = number_type(r), r.choice((3, 5, 6, 8))
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
    b, rank = number_type(r), r.choice((1, 2, 2))
    i, n = ("i", "j")[:rank], ("n", "m")[:rank]
    before, behind = ([r.randint(0, 2) for _ in i] for _ in range(2))
    own = [f"{x} - {k}" if k else x for x, k in zip(i, before)]

    def joined(texts: Iterable[str]) -> str:
        return ",".join(texts)

    ways = ("mod({a}, {n})", "mod({a}, {n})", "min(max({a}, 0), {n} - 1)", "abs({n} - 1 - abs({n} - 1 - {a})) % {n}")
    outside = r.choice((
        f"a[{joined(r.choice(ways).format(a=a, n=k) for a, k in zip(own, n))}]", zero_of(b),
        f"to{b[0]}({i[0]}) * {one_of(b)}",
    ))  # fmt: skip
    extents = [f"{k} + {x + y}" for k, x, y in zip(n, before, behind)]
    inner = f"[{joined(map(str, before))}] <= [{joined(i)}] < [{joined(f'{k} + {x}' for k, x in zip(n, before))}]"
    value = r.choice(("a[{}]", "a[{}]", "{u} - a[{}]", "abs(a[{}])")).format(joined(own), u=one_of(b))
    parts = [f"[{joined(i)}] -> {value} | {inner}", f"[{joined(i)}] -> {outside} | [{joined(i)}] < [{joined(extents)}]"]
    if r.random() < 0.3:
        first = f"[{joined(['0'] * rank)}] <= [{joined(i)}] < [{joined([str(r.randint(0, 2)), *extents[1:]])}]"
        parts.insert(0, f"[{joined(i)}] -> {one_of(b)} | {first}")
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
