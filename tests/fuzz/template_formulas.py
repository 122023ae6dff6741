"""Templates of formulas that say everything in one go, where a loop would keep what it has: sums up to a cell, of
groups, of columns; and of loops that merge."""

from __future__ import annotations

import random

from tests.fuzz.template import Template, number_type


def cut_folds(r: random.Random, name: str) -> Template:
    """Folds of what begins and ends where the index around says, or of what a condition chooses."""
    b = number_type(r)
    zero = {"double": "0.0", "float": "0f", "long": "0l"}.get(b, "0")
    lower = r.choice(("0", "i", "i+1", "max(0, i-2)", "min(i, 3)", "n-1"))
    upper = r.choice(("n", "n", "min(n, i+3)", "i", "min(n, 2*i)"))
    value = r.choice(("v[j]", "v[j] * w[i]", "v[j] - w[i]"))
    condition = r.choice(
        (f"j >= {lower}", f"j < {upper}", f"j >= {lower} && j < {upper}", "j > 2 && v[j] > w[i]", "j != i")
    )
    cells = r.choice((
        f"{{ [j] -> {value} | [{lower}] <= [j] < [{upper}] }}",
        f"{{ [j] -> {condition} ? {value} : {zero} | [j] < [n] }}",
        f"{{ [j,k] -> v[j] * w[k] | [{lower},1] <= [j,k] < [{upper},n] }}",
    ))  # fmt: skip
    fold = r.choice(("sum", "sum", "sum", "prod"))
    text = f"{b}[n] {name}({b}[n] v, {b}[n] w)\n{{\n  return {{ [i] -> w[i] + {fold}({cells}) | [i] < [n] }};\n}}\n\n"
    return Template(text, name, ((b, ("n",)), (b, ("n",))), (b, ("n",)), 0)


def running(r: random.Random, name: str) -> Template:
    """Folds of all that lies before a cell, or behind it, along one of two axes."""
    b = number_type(r)
    by = r.choice(("", "", " + 1", " + 1", " - 1", " + 2"))
    first = r.choice(("0", "0", "1", "2", "min(2, n)"))
    fold = r.choice(("sum", "sum", "prod", "maxval", "minval"))
    if r.random() < 0.4:
        elements = r.choice(("a[i,k]", "a[k,j]", "a[i,k] * a[k,0]", "a[k,j] - a[0,j]", "a[k,0]"))
        end = "j" if "i,k" in elements or r.random() < 0.3 else "i"
        lower = r.choice(("", "", f"[{first}] <= "))
        cells = f"{{ [k] -> {elements} | {lower}[k] < [{end}{by}] }}"
        value = r.choice((f"{fold}({cells})", f"a[i,j] + {fold}({cells})"))
        text = f"{b}[n,m] {name}({b}[n,m] a)\n{{\n  return {{ [i,j] -> {value} | [i,j] < [n,m] }};\n}}\n\n"
        return Template(text, name, ((b, ("n", "m")),), (b, ("n", "m")), 0)
    value = r.choice(("v[j]", "v[j] * w[j]", "v[j] - w[0]", "v[j] * w[i]", "v[j + 1]"))
    cells = r.choice((
        f"{{ [j] -> {value} | [j] < [i{by}] }}", f"{{ [j] -> {value} | [{first}] <= [j] < [i{by}] }}",
        f"{{ [j] -> {value} | [i{by}] <= [j] < [n] }}", "take([i + 1], v)", "drop([i], v)",
        "{ [j] -> v[i + j] | [j] < [n - i] }",
    ))  # fmt: skip
    more = r.choice(("", f" + {fold}({cells})", f" - sum({cells})"))
    at = r.choice(("", "", f"[{first}] <= "))
    rest = "; [i] -> w[i] | [i] < [n]" if at else ""
    body = f"{{ [i] -> w[i] + {fold}({cells}){more} | {at}[i] < [n]{rest} }}"
    text = f"{b}[n] {name}({b}[n] v, {b}[n] w)\n{{\n  return {body};\n}}\n\n"
    return Template(text, name, ((b, ("n",)), (b, ("n",))), (b, ("n",)), 0)


def grouped(r: random.Random, name: str) -> Template:
    """What data say belongs to a cell: counts, sums, extremes of groups, and what follows from several."""
    b = number_type(r)
    zero = {"double": "0.0", "float": "0f", "long": "0l"}.get(b, "0")
    key = r.choice(("g[i]", "g[i]", "g[i] % n", "g[i] + 1", "g[n - 1 - i]", "i / 2"))
    values = r.choices(("x[i]", "x[i] * x[0]", "x[i] * w[k]", "w[g[i]]", "x[i + 1]", f"x[i] - {zero}"), k=2)
    chosen = [
        f"sum({{ [i] -> {r.choice((f'{key} == k', f'k == {key}'))} ? {v} : {zero} | [i] < [n] }})" for v in values
    ]
    value = r.choice((chosen[0], f"{chosen[0]} - {chosen[1]}", f"w[k] + {chosen[0]}"))
    lower = r.choice(("", "", "[2] <= "))
    rest = "; [k] -> w[k] | [k] < [m]" if lower else ""
    body = f"{{ [k] -> {value} | {lower}[k] < [m]{rest} }}"
    text = f"{b}[m] {name}({b}[n] x, int[n] g, {b}[m] w)\n{{\n  return {body};\n}}\n\n"
    return Template(text, name, ((b, ("n",)), ("int", ("n",)), (b, ("m",))), (b, ("m",)), 0)


def merging(r: random.Random, name: str) -> Template:
    """Two places in two lists of which one moves in each round, as the data say."""
    b = number_type(r)
    more = r.choice(("v[i] <= w[j]", "v[k] < w[k]", "v[i] > w[j] && k > 2"))
    condition = r.choice((f"j >= m || (i < n && {more})", f"i < n && {more}", f"i < n && j < m && {more}", more))
    parts = [r.choice((f"r[k] = {x}[{i}];", f"r[k] = {x}[{i}] + v[k % n];", f"s = {x}[{i}];")) for x, i in ("vi", "wj")]
    steps = [r.choice((f"{i}++;", f"{i} = {i} + 1;", f"{i} = min({i} + 1, n);")) for i in "ij"]
    loop = (
        f"if ({condition}) {{ {parts[0]} {steps[0]} }} else {{ {parts[1]} {steps[1]} }}"
        if r.random() < 0.8
        else f"if ({condition}) {{ {parts[0]} {steps[0]} }}"
    )
    text = (
        f"{b}[n] {name}({b}[n] v, {b}[m] w)\n{{\n  r = v;\n  s = r[0];\n  i = 0;\n  j = 0;\n"
        f"  for (k = 0; k < n; k++) {{\n    {loop}\n  }}\n  r[n - 1] = s;\n  return r;\n}}\n\n"
    )
    return Template(text, name, ((b, ("n",)), (b, ("m",))), (b, ("n",)), 1)


def in_common(r: random.Random, name: str) -> Template:
    """Cells that have in common along an axis what takes long: sums down columns, and what follows from them."""
    b = number_type(r)
    shared = [
        "sum({ [k] -> a[k,j] | [k] < [n] })", "sum({ [k] -> a[k,j] * w[k] | [k] < [n] })", "maxval(a[.,j])",
        "sum({ [k] -> a[k % n,j] | [k] < [20] })", "sum({ [k,l] -> a[k,l] * a[k,j] | [k,l] < [n,m] })", "a[0,j]",
        "sum(a[i])", "sum({ [k] -> a[i,k] * a[0,k] | [k] < [m] })",
    ]  # fmt: skip
    if b in ("double", "float"):
        shared += [f"to{b[0]}(exp(tod(a[n-1,j]) / 99.0))", f"to{b[0]}(cos(tod(j)))"]
    parts = r.choices(shared, k=r.randint(1, 3))
    value = "a[i,j]"
    for part in parts:
        value = r.choice((f"{value} + {part}", f"{value} - {part} * {r.choice(parts)}", f"max({value}, {part})"))
    lower = r.choice(("", "", "", "[1,0] <= ", "[0,1] <= "))
    rest = "; [i,j] -> a[i,j] | [i,j] < [n,m]" if lower else ""
    cells = f"{{ [i,j] -> {value} | {lower}[i,j] < [n,m]{rest} }}"
    body = r.choice((
        f"  return {cells};\n", f"  for (q = 0; q < 3; q++) {{ a = {cells}; }}\n  return a;\n",
        f"  s = sum({cells});\n  return {{ [i,j] -> s + a[i,j] | [i,j] < [n,m] }};\n",
    ))  # fmt: skip
    text = f"{b}[n,m] {name}({b}[n,m] a, {b}[n] w)\n{{\n{body}}}\n\n"
    return Template(text, name, ((b, ("n", "m")), (b, ("n",))), (b, ("n", "m")), 0)
