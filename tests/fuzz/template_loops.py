"""Loops that set elements one by one, carry arrays, or put values where the data say."""

from __future__ import annotations

import random

from tests.fuzz.template import Template, near, number_type, one_of, zero_of


def assignments(r: random.Random, name: str) -> Template:
    """Nested loops that set each element once, perhaps in a branch only, from what another array has near by."""
    b = number_type(r)
    first, last = r.choice((("0", "n"), ("1", "n"), ("0", "n - 1"), ("n / 2", "n"), ("2", "1")))
    old = r.choice(("w[i,j]", f"v[{near(r, 'i', 'n')}, j]", one_of(b)))
    value = f"v[i, {near(r, 'j', 'm')}] {r.choice(('+', '-', '*'))} {old}"
    update = r.choice(
        (
            f"w[i,j] = {value};",
            f"if (v[i,j] > {zero_of(b)}) {{ w[i,j] = {value}; }}",
            f"if (i == n - 1) {{ w[i,j] = {value}; }} else {{ w[i,j] = v[i,j] * v[i,j]; }}",
        )
    )
    start = r.choice(("v", f"genarray([n,m], {one_of(b)})"))
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


def solver(r: random.Random, name: str) -> Template:
    """A while loop that runs until little changes."""
    text = f"""double[n] {name}(double[n] start, double eps)
{{
  v = start;
  rounds = 0;
  change = 1.0;
  while (change > eps && rounds < {r.randint(1, 9)}) {{
    next = {{ [i] -> 0.25 * v[mod(i - 1, n)] + 0.5 * v[i] + 0.2 * v[{near(r, "i", "n")}] | [i] < [n] }};
    change = maxval(abs(next - v));
    v = next;
    rounds += 1;
  }}
  return v;
}}

"""
    return Template(text, name, (("double", ("n",)), ("double", ())), ("double", ("n",)), 1)


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
    b = number_type(r)
    inner = r.choice(
        (
            "{ [j] -> v[i] * w[j] | [j] < [m] }",
            "v[i] * w",
            "with { ([0] <= [j] < [m]) : w[m - 1 - j] - v[i]; } : genarray([m], ZERO)",
        )
    ).replace("ZERO", zero_of(b))
    text = f"{b}[n,m] {name}({b}[n] v, {b}[m] w)\n{{\n  return {{ [i] -> {inner} | [i] < [n] }};\n}}\n\n"
    return Template(text, name, ((b, ("n",)), (b, ("m",))), (b, ("n", "m")))


def scatter(r: random.Random, name: str) -> Template:
    """Additions to elements that the data choose."""
    b = r.choice(("int", "int", "long", "double"))
    size = r.choice((8, 16, 64, 64))  # of a small array the elements become variables
    text = (
        f"{b}[{size}] {name}(int[n] at, {b}[n] v)\n{{\n  h = genarray([{size}], {zero_of(b)});\n"
        f"  for (i = 0; i < n; i++) {{ h[at[i] & {size - 1}] = h[at[i] & {size - 1}] + v[i]; }}\n  return h;\n}}\n\n"
    )
    return Template(text, name, (("int", ("n",)), (b, ("n",))), (b, (size,)))


def exchanged(r: random.Random, name: str) -> Template:
    """Rows that change places, or go on being used after they have been replaced."""
    b = number_type(r)
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


def assigned(r: random.Random, name: str) -> Template:
    """Rows, and matrices, that are computed and put into the array that they read."""
    b = number_type(r)
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


def sliced(r: random.Random, name: str) -> Template:
    """Whole arrays that are computed anew from themselves and from a row or a column that all cells share."""
    b = r.choice(("int", "double", "double", "bool"))
    row, column = (
        r.choice(("a[k,j]", "a[n-1,j]", "a[k,k]", "a[0,j]")),
        r.choice(("a[i,k]", "a[i,0]", "a[j,i]", "a[k,k]")),
    )
    own = r.choice(("a[i,j]", "a[i,j]", "a[i,j]", "a[j,i]", "w[i,j]"))
    values = (f"{own} || ({row} && {column})", f"{column} ? {row} : {own}", f"!{own} && {row}") if b == "bool" else (
        f"min({own}, {row} + {column})", f"{own} - {row} * {column}", f"i == k ? {row} : {own} - {column}",
        f"j > k && i > k ? {own} - {column} * {row} : {own}", f"{own} > {row} ? {column} : {own} + {row}",
        f"(i == k || j == k) ? {own} : {row} - {column} + {own}",
    )  # fmt: skip
    step = r.choice((
        f"a = {{ [i,j] -> {r.choice(values)} | [i,j] < [n,n] }};",
        f"a = {{ [i,j] -> {r.choice(values)} | [k,0] <= [i,j] < [n,n]; [i,j] -> {own} | [i,j] < [n,n] }};",
        f"b = {{ [i,j] -> {r.choice(values)} | [i,j] < [n,n] }}; a = {{ [i,j] -> {r.choice(values)}"
        f" | [i,j] < [n,n] }}; w = b;",
    ))  # fmt: skip
    last = r.choice(("n", "n", "n", "min(n, 3)", "n - 1"))
    text = (
        f"{b}[n,n] {name}({b}[n,n] a, {b}[n,n] w)\n{{\n"
        f"  for (k = {r.choice((0, 0, 1))}; k < {last}; k++) {{ {step} }}\n"
        f"  return { {'bool': 'a || w'}.get(b, 'a + w') };\n}}\n\n"
    )
    return Template(text, name, ((b, ("n", "n")), (b, ("n", "n"))), (b, ("n", "n")), 0)


def chosen_rows(r: random.Random, name: str) -> Template:
    """Rows of which a condition says which they are, or how they are computed."""
    b = number_type(r)
    rows = ["a[k]", "a[i]", "w", "a[i] - a[k]", "{ [j] -> a[i,j] + w[j] | [j] < [m] }", "w * a[i]", "a[n - 1 - i]"]
    condition = r.choice(("i == k", "i < k", "w[0] > a[i,0]", "i == k || i == 0", "mod(i, 2) == 0"))
    other = r.choice(rows) if r.random() < 0.6 else f"(i == 0 ? {r.choice(rows)} : {r.choice(rows)})"
    text = (
        f"{b}[n,m] {name}({b}[n,m] a, {b}[m] w)\n{{\n  for (k = 0; k < n; k++) {{\n"
        f"    a = {{ [i] -> {condition} ? {r.choice(rows)} : {other} | [i] < [n] }};\n  }}\n  return a;\n}}\n\n"
    )
    return Template(text, name, ((b, ("n", "m")), (b, ("m",))), (b, ("n", "m")), 0)


def stepped(r: random.Random, name: str) -> Template:
    """Arrays that are computed anew from themselves, step by step."""
    b = number_type(r)
    unit = one_of(b)
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
    b = number_type(r)
    zero, unit = zero_of(b), one_of(b)
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


def gathered(r: random.Random, name: str) -> Template:
    """Loops whose indices come out of arrays, where only a look at them tells whether they are right."""
    b = number_type(r)
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


def distributed(r: random.Random, name: str) -> Template:
    """Values that go where counters say: those for which a condition holds, or all, in the order of digits."""
    b, digits = number_type(r), r.choice((2, 5, 16))
    condition = r.choice(("v[i] > w[i]", "k[i] % 3 == 0", "i % 2 == 1", "v[i] < w[n - 1 - i]"))
    value = r.choice(("v[i]", "v[i] + w[i]", "w[n - 1 - i]"))
    digit = r.choice((f"abs(k[i] % {digits})", f"(i + abs(k[i] % 3)) % {digits}", f"abs(k[n - 1 - i] % {digits})"))
    two = r.random() < 0.5
    some = f"""p = 0;
  for (i = 0; i < n; i++) {{
    if ({condition}) {{ a[p] = {value}; {"c[p] = i;" if two else ""} p = p + 1; }}
  }}"""
    always = f"""a = a ++ [{zero_of(b)}]; p = {r.choice((0, 0, 1))};
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


def handed_on(r: random.Random, name: str) -> Template:
    """Cells of a few elements that rounds carry, computed from neighbours, in one step or two."""
    b, many = number_type(r), r.choice((2, 3, 4))
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
    b = number_type(r)
    first, steps = r.choice((("0", (0, 1, 1)), ("m - 1", (0, -1, -1)), ("0", (0, 1, 2)), ("1", (-1, 0, 1))))
    at = r.choice(("j", "j", "max(min(j, m - 1), 0)"))
    loop = r.choice(("i = 0; i < n; i++", "i = 0; i < m; i++", "i = n - 1; i >= 0; i--", "i = 0; i < n; i += 2"))
    ways = [f"r[{at}] = x{r.choice(('', ' + x', f' - {one_of(b)}'))}; j = j + {r.choice(steps)};" for _ in range(2)]
    skip = f"if ({r.choice(('j < m && ', 'j >= 0 && ', 'j < m && j >= 0 && '))}x > {zero_of(b)}) {{ {ways[0]} }}"
    body = r.choice((skip, f"if (x > {zero_of(b)}) {{ {ways[0]} }} else {{ {ways[1]} }}"))
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
