"""Every syntax error's code, place, message and remedy, word for word.

Each case: the text; then per diagnostic its code, line and column, message, help, and the line that the suggested edit
makes (None without one). A program with its edits applied has no syntax error left.
"""

from itertools import product

import pytest

from sacpy.lang.diagnostics import Diagnostic
from sacpy.lang.parser import parse_module
from sacpy.lang.source import Source

Expected = tuple[str, int, int, str, str, str | None]

STATEMENTS = "SaC's statements are assignments, calls, `if`, `while`, `do`, `for` and `return`"

CASES: dict[str, tuple[str, list[Expected]]] = {
    "missing_semicolon": (
        "int main()\n{\n    x = 3\n    y = 4;\n    return 0;\n}\n",
        [
            ("E0202", 3, 10, "expected `;`, found `y`", "a `;` ends every statement and declaration", "    x = 3;"),
        ],
    ),
    "missing_semicolon_before_brace": (
        "int main() { return 0 }",
        [
            ("E0202", 1, 22, "expected `;`, found `}`", "a `;` ends every statement and declaration",
                "int main() { return 0; }"),
        ],
    ),
    "missing_semicolon_same_line": (
        "int main()\n{\n    x = 3 y = 4;\n    return 0;\n}\n",
        [
            ("E0206", 3, 11, "expected an operator or `;`, found `y`",
                "put an operator between the two, or a `;` if a statement ends here", None),
        ],
    ),
    "missing_operand": (
        "int main()\n{\n    x = 3 + ;\n    return 0;\n}\n",
        [
            ("E0205", 3, 13, "expected an expression, found `;`", "write the missing value", None),
        ],
    ),
    "missing_paren": (
        "int main()\n{\n    x = f(3;\n    return 0;\n}\n",
        [
            ("E0203", 3, 12, "expected `,` or `)`, found `;`",
                "write `)` here, or look for a mistake between the `(` and this place", "    x = f(3);"),
        ],
    ),
    "missing_paren_if": (
        "int main()\n{\n    if (x > 3 {\n        x = 1;\n    }\n    return 0;\n}\n",
        [
            ("E0203", 3, 14, "expected `)`, found `{`",
                "write `)` here, or look for a mistake between the `(` and this place", "    if (x > 3) {"),
        ],
    ),
    "missing_paren_for_of_one_line": (
        "int main()\n{\n    for (i = 0; i < 5; i++ { s += i; }\n    return 0;\n}\n",
        [
            ("E0203", 3, 27, "expected `)`, found `{`",
                "write `)` here, or look for a mistake between the `(` and this place",
                "    for (i = 0; i < 5; i++) { s += i; }"),
        ],
    ),
    "missing_paren_open_if": (
        "int main()\n{\n    if x > 3 { x = 1; }\n    return 0;\n}\n",
        [
            ("E0201", 3, 8, "expected `(` behind `if`, found `x`",
                "the condition stands in parentheses: `if (c) { .. }`", None),
        ],
    ),
    "slice": (
        "int main()\n{\n    x = a[1:3];\n    return x;\n}\n",
        [
            ("E0203", 3, 12, "expected `,` or `]`, found `:`",
                "SaC has no slices: `take([n], a)` and `drop([n], a)` are its ends, and `tile(shape, offset, a)` is "
                    "any part of it", None),
        ],
    ),
    "missing_bracket": (
        "int main()\n{\n    x = a[1, 2;\n    return 0;\n}\n",
        [
            ("E0203", 3, 15, "expected `,` or `]`, found `;`",
                "write `]` here, or look for a mistake between the `[` and this place", "    x = a[1, 2];"),
        ],
    ),
    "mismatched": (
        "int main()\n{\n    x = f(a[1);\n    return 0;\n}\n",
        [
            ("E0203", 3, 14, "expected `,` or `]`, found `)`",
                "write `]` here, or look for a mistake between the `[` and this place", "    x = f(a[1]);"),
        ],
    ),
    "extra_paren": (
        "int main()\n{\n    x = f(3));\n    return 0;\n}\n",
        [
            ("E0208", 3, 13, "this `)` closes nothing", "remove it, or open it before", "    x = f(3);"),
        ],
    ),
    "extra_bracket": (
        "int main()\n{\n    x = a[3]];\n    return 0;\n}\n",
        [
            ("E0208", 3, 13, "this `]` closes nothing", "remove it, or open it before", "    x = a[3];"),
        ],
    ),
    "extra_brace": (
        "int f() { return 1; }\n}\nint main() { return 0; }\n",
        [
            ("E0208", 2, 1, "this `}` closes nothing", "remove it, or look for a `}` too many before it", None),
        ],
    ),
    "extra_brace_inside": (
        "int main()\n{\n    if (true) {\n        x = 1;\n    }\n    }\n    y = 2;\n    return 0;\n}\n"
            "int g() { return 1; }\n",
        [
            ("E0209", 7, 5, "a statement stands only inside a function",
                "put it into a function, for instance `int main() { .. return 0; }`", None),
        ],
    ),
    "unclosed_main": (
        "int main()\n{\n    x = 1;\n    return 0;\n",
        [
            ("E0204", 2, 1, "this brace is never closed", "write the missing `}`", None),
        ],
    ),
    "unclosed_inner": (
        "int main()\n{\n    for (i = 0; i < 3; i++) {\n        x = 1;\n    return 0;\n}\n",
        [
            ("E0204", 3, 29, "this brace is never closed",
                "write the missing `}`; by the indentation of the text, this is the brace that lacks it", None),
        ],
    ),
    "unclosed_inner_two": (
        "int f(int a)\n{\n    if (a > 1) {\n        a = 1;\n    return a;\n}\n\nint main()\n{\n    return 0;\n}\n",
        [
            ("E0204", 3, 16, "this brace is never closed",
                "write the missing `}`; by the indentation of the text, this is the brace that lacks it", None),
        ],
    ),
    "unclosed_with": (
        "int main()\n{\n    x = with { (. <= iv <= .) : 1; : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0204", 3, 14, "this brace is never closed",
                "write the missing `}`; by the indentation of the text, this is the brace that lacks it", None),
        ],
    ),
    "initialiser": (
        "int main()\n{\n    int x = 5;\n    y = x;\n    return 0;\n}\n",
        [
            ("E0212", 3, 5, "a declaration cannot give a value",
                "leave the type out: `x = ..;` makes the variable, and its type is that of the value", "    x = 5;"),
        ],
    ),
    "initialiser_for": (
        "int main()\n{\n    for (int i = 0; i < 3; i++) { x = i; }\n    return 0;\n}\n",
        [
            ("E0212", 3, 10, "a declaration cannot give a value",
                "leave the type out: `i = ..;` makes the variable, and its type is that of the value",
                "    for (i = 0; i < 3; i++) { x = i; }"),
        ],
    ),
    "late_declaration": (
        "int main()\n{\n    x = 1;\n    int y;\n    y = 2;\n    return 0;\n}\n",
        [
            (
                "E0213", 4, 5, "declarations stand only at the head of a function's body",
                "move it before the function's first statement, or leave it out: an assignment makes its variable",
                "    y = 2;",
            ),
        ],
    ),
    "break": (
        "int main()\n{\n    while (true) { break; }\n    return 0;\n}\n",
        [
            ("E0214", 3, 20, "SaC has no `break`", STATEMENTS, None),
        ],
    ),
    "continue": (
        "int main()\n{\n    while (true) { continue; }\n    return 0;\n}\n",
        [
            ("E0214", 3, 20, "SaC has no `continue`", STATEMENTS, None),
        ],
    ),
    "goto": (
        "int main()\n{\n    goto out;\n    return 0;\n}\n",
        [
            ("E0214", 3, 5, "SaC has no `goto`", STATEMENTS, None),
        ],
    ),
    "switch": (
        "int main()\n{\n    switch (x) {\n      case 1: x = 2; break;\n    }\n    return 0;\n}\n",
        [
            ("E0214", 3, 5, "SaC has no `switch`", STATEMENTS, None),
        ],
    ),
    "early_return": (
        "int main()\n{\n    if (x) {\n        return 1;\n    }\n    return 0;\n}\n",
        [
            ("E0215", 4, 9, "`return` stands only at the end of a function's body",
                "assign the result to a variable in each branch, and return it at the end", None),
        ],
    ),
    "return_not_last": (
        "int main()\n{\n    return 1;\n    x = 2;\n}\n",
        [
            ("E0215", 3, 5, "`return` stands only at the end of a function's body",
                "remove the statements behind it, or move the return to the end", None),
        ],
    ),
    "address": (
        "int main()\n{\n    f(&x);\n    return 0;\n}\n",
        [
            ("E0218", 3, 7, "SaC has no addresses",
                "leave the `&` out: a reference parameter is marked in the function's head, the call passes the "
                    "variable", "    f(x);"),
        ],
    ),
    "pointer_target": (
        "int main()\n{\n    *p = 3;\n    return 0;\n}\n",
        [
            ("E0218", 3, 5, "SaC has no pointers", "arrays are values: assign to `a[i]`, or return the new value",
                None),
        ],
    ),
    "arrow": (
        "int main()\n{\n    x = p->y;\n    return 0;\n}\n",
        [
            ("E0218", 3, 10, "SaC has no pointers", "write `.` for the field of a struct", "    x = p.y;"),
        ],
    ),
    "chain": (
        "int main()\n{\n    x = y = 3;\n    return 0;\n}\n",
        [
            ("E0216", 3, 11, "an assignment is not an expression", "write two statements: `y = ..; x = y;`", None),
        ],
    ),
    "assign_in_condition": (
        "int main()\n{\n    if (x = 3) { y = 1; }\n    return 0;\n}\n",
        [
            ("E0216", 3, 11, "an assignment is not an expression",
                "`==` compares; to assign, write a statement of its own", "    if (x == 3) { y = 1; }"),
        ],
    ),
    "assign_in_call": (
        "int main()\n{\n    f(x = 3);\n    return 0;\n}\n",
        [
            ("E0216", 3, 9, "an assignment is not an expression",
                "`==` compares; to assign, write a statement of its own", None),
        ],
    ),
    "c_array": (
        "int main()\n{\n    int a[10];\n    return 0;\n}\n",
        [
            ("E0234", 3, 10, "extents stand behind the type, not behind the name", "write `int[10] a`",
                "    int[10] a;"),
        ],
    ),
    "c_array_param": (
        "int f(int a[])\n{ return 1; }\n",
        [
            ("E0234", 1, 12, "extents stand behind the type, not behind the name", "write `int[.] a`",
                "int f(int[.] a)"),
        ],
    ),
    "true_capital": (
        "int main()\n{\n    x = True;\n    return 0;\n}\n",
        [
            ("E0229", 3, 9, "`True` is not a truth value in SaC", "write `true`", "    x = true;"),
        ],
    ),
    "void_param": (
        "int main(void) { return 0; }",
        [
            ("E0242", 1, 10, "an empty list of parameters is written `()`", "leave the `void` out",
                "int main() { return 0; }"),
        ],
    ),
    "triple_equal": (
        "int main()\n{\n    if (x === 3) { y = 1; }\n    return 0;\n}\n",
        [
            ("E0217", 3, 11, "there is no operator `===`", "SaC compares with `==`", "    if (x == 3) { y = 1; }"),
        ],
    ),
    "no_result_type": (
        "main() { return 0; }",
        [
            ("E0237", 1, 1, "the function `main` has no result type",
                "write the type of its result, or `void` if it has none", None),
        ],
    ),
    "no_result_type2": (
        "int f() { return 1; }\ng(int x) { return 0; }",
        [
            ("E0237", 2, 1, "the function `g` has no result type",
                "write the type of its result, or `void` if it has none", None),
        ],
    ),
    "statement_outside": (
        "x = 3;\nint main() { return 0; }\n",
        [
            ("E0209", 1, 1, "a statement stands only inside a function",
                "put it into a function, for instance `int main() { .. return 0; }`", None),
        ],
    ),
    "global_variable": (
        "int counter = 0;\nint main() { return 0; }\n",
        [
            ("E0241", 1, 1, "SaC has no global variables",
                "pass it to the functions that need it; a constant can be a function, or `#define`d; for state shared "
                    "by the program see `objdef`", None),
        ],
    ),
    "global_variable2": (
        "int counter;\nint main() { return 0; }\n",
        [
            ("E0241", 1, 1, "SaC has no global variables",
                "pass it to the functions that need it; a constant can be a function, or `#define`d; for state shared "
                    "by the program see `objdef`", None),
        ],
    ),
    "struct_missing_semicolon": (
        "struct S { int a; int b }\nint main() { return 0; }\n",
        [
            ("E0202", 1, 24, "expected `;`, found `}`", "a `;` ends every statement and declaration",
                "struct S { int a; int b; }"),
        ],
    ),
    "struct_c_array": (
        "struct S { int a[3]; };\nint main() { return 0; }\n",
        [
            ("E0234", 1, 17, "extents stand behind the type, not behind the name", "write `int[3] a`",
                "struct S { int[3] a; };"),
        ],
    ),
    "cast_call": (
        "int main()\n{\n    x = int(3.5);\n    return 0;\n}\n",
        [
            ("E0220", 3, 9, "`int` is a type and cannot be called", "write `toi(..)` to convert", "    x = toi(3.5);"),
        ],
    ),
    "type_in_expr": (
        "int main()\n{\n    x = int + 3;\n    return 0;\n}\n",
        [
            ("E0220", 3, 9, "expected an expression, found the type `int`",
                "`((int[2,3]) e)` asserts a shape, `toi(e)` converts, `[:int]` is an empty vector", None),
        ],
    ),
    "two_results": (
        "int, int f() { return 1, 2; }",
        [
            ("E0232", 1, 24, "several results stand in parentheses", "write `return (a, b);`", None),
        ],
    ),
    "paren_list": (
        "int main()\n{\n    x = (1, 2);\n    return 0;\n}\n",
        [
            ("E0245", 3, 11, "a parenthesis holds one value",
                "several values stand in brackets, `[a, b]`, or behind the `return` of a function of several results",
                None),
        ],
    ),
    "no_arrow": (
        "int main()\n{\n    x = { iv : a[iv] };\n    return 0;\n}\n",
        [
            (
                "E0230",
                3,
                14,
                "expected `->` in the comprehension, found `:`",
                "a comprehension reads `{ iv -> e | iv < shp }`",
                "    x = { iv -> a[iv] };",
            ),
        ],
    ),
    "no_arrow_at_all": (
        "int main()\n{\n    x = { iv a[iv] };\n    return 0;\n}\n",
        [
            (
                "E0230",
                3,
                14,
                "expected `->` in the comprehension, found `a`",
                "a comprehension reads `{ iv -> e | iv < shp }`; "
                "a block of statements belongs to `if`, `while`, `do` or `for`",
                None,
            ),
        ],
    ),
    "bad_range": (
        "int main()\n{\n    x = { iv -> a[iv] | jv < [3] };\n    return 0;\n}\n",
        [
            ("E0230", 3, 25, "the range of this comprehension must be one of its index `iv`",
                "write `lb <= iv < ub`, `iv < ub` or `lb <= iv`", None),
        ],
    ),
    "range_ge": (
        "int main()\n{\n    x = { iv -> a[iv] | iv >= [3] };\n    return 0;\n}\n",
        [
            ("E0226", 3, 28, "expected `<` or `<=` in the generator, found `>=`",
                "write it the other way round: a generator reads `lb <= iv < ub`, `. <= iv <= .` or `lb <= [i,j] < ub`",
                None),
        ],
    ),
    "generator_ge": (
        "int main()\n{\n    x = with { (n > iv >= 0) : 1; } : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0226", 3, 19, "expected `<` or `<=` in the generator, found `>`",
                "write it the other way round: a generator reads `lb <= iv < ub`, `. <= iv <= .` or `lb <= [i,j] < ub`",
                None),
        ],
    ),
    "generator_no_index": (
        "int main()\n{\n    x = with { ([0] <= [3]) : 1; } : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0226", 3, 25, "expected the name of an index, found `3`",
                "between the bounds stands the index: `lb <= iv < ub` or `lb <= [i,j] < ub`", None),
        ],
    ),
    "with_no_brace": (
        "int main()\n{\n    x = with (. <= iv <= .) genarray([3], 1);\n    return 0;\n}\n",
        [
            ("E0225", 3, 14, "expected `{` behind `with`, found `(`",
                "the partitions stand in braces: `with { (lb <= iv < ub) : e; } : genarray(shp)`", None),
        ],
    ),
    "with_no_colon": (
        "int main()\n{\n    x = with { (. <= iv <= .) : 1; } genarray([3]);\n    return 0;\n}\n",
        [
            ("E0225", 3, 37, "expected `:` and what the with-loop makes, found `genarray`",
                "an operator follows the braces, as in `with {..} : genarray(shp)`",
                "    x = with { (. <= iv <= .) : 1; } : genarray([3]);"),
        ],
    ),
    "with_bad_op": (
        "int main()\n{\n    x = with { (. <= iv <= .) : 1; } : sum([3]);\n    return 0;\n}\n",
        [
            ("E0227", 3, 40, "expected what the with-loop makes, found `sum`",
                "the operators are `genarray`, `modarray`, `fold`, `foldfix`, `scan`, `exscan`, `into`, `propagate`, "
                "and `void` for none", None),
        ],
    ),
    "with_missing_part_semicolon": (
        "int main()\n{\n    x = with { (. <= iv <= .) : 1 } : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0202", 3, 34, "expected `;` at the end of the partition, found `}`", "every partition ends with `;`",
                "    x = with { (. <= iv <= .) : 1; } : genarray([3]);"),
        ],
    ),
    "fold_no_neutral": (
        "int main()\n{\n    x = with { ([0] <= iv < [3]) : 1; } : fold(+);\n    return 0;\n}\n",
        [
            ("E0227", 3, 49, "`fold` needs the neutral element of its function",
                "write `fold(f, neutral)`, as in `fold(+, 0)`", None),
        ],
    ),
    "modarray_two": (
        "int main()\n{\n    x = with { (. <= iv <= .) : 1; } : modarray(a, 3);\n    return 0;\n}\n",
        [
            ("E0227", 3, 50, "`modarray` takes one argument",
                "`genarray(shape, default)` is the only one with a default", None),
        ],
    ),
    "too_large": (
        "int main()\n{\n    x = 2147483648;\n    return 0;\n}\n",
        [
            ("E0224", 3, 9, "`2147483648` is too large for an int",
                "write `2147483648l` for a long; `-2147483648` is legal: the sign must stand right before the number",
                None),
        ],
    ),
    "reserved": (
        "int main()\n{\n    while = 3;\n    return 0;\n}\n",
        [
            ("E0201", 3, 11, "expected `(` behind `while`, found `=`",
                "the condition stands in parentheses: `while (c) { .. }`", None),
        ],
    ),
    "reserved2": (
        "int struct(int x) { return x; }",
        [
            ("E0228", 1, 5, "`struct` is a word of the language and cannot be the name of a function",
                "choose another name, for instance `struct_`", None),
        ],
    ),
    "bare_block": (
        "int main()\n{\n    {\n        x = 1;\n    }\n    return 0;\n}\n",
        [
            ("E0231", 3, 5, "a block stands only behind `if`, `else`, `while`, `do` and `for`",
                "remove the braces: SaC has no scopes inside a function", None),
        ],
    ),
    "lone_else": (
        "int main()\n{\n    if (x) { y = 1; };\n    else { y = 2; }\n    return 0;\n}\n",
        [
            ("E0233", 4, 5, "this `else` belongs to no `if`",
                "look at the braces before it; `if (c) { .. } else { .. }` has no `;` before the `else`", None),
        ],
    ),
    "no_effect": (
        "int main()\n{\n    x == 3;\n    return 0;\n}\n",
        [
            ("E0222", 3, 5, "this expression does nothing", "`=` assigns, `==` compares", "    x = 3;"),
        ],
    ),
    "no_effect_name": (
        "int main()\n{\n    x;\n    return 0;\n}\n",
        [
            ("E0222", 3, 5, "this expression does nothing", "assign it to a variable, or leave it out", None),
        ],
    ),
    "dot_outside": (
        "int main()\n{\n    x = [1, ., 2];\n    return 0;\n}\n",
        [
            ("E0219", 3, 13, "`.` stands only for an axis of a selection",
                "inside an array literal write a value; `a[., 1]` and `{ [., i] -> .. }` are where dots belong", None),
        ],
    ),
    "empty_condition": (
        "int main()\n{\n    for (;;) { x = 1; }\n    return 0;\n}\n",
        [
            ("E0236", 3, 11, "a `for` loop needs a condition",
                "write the condition of another round; for a loop without end write `true`",
                "    for (; true;) { x = 1; }"),
        ],
    ),
    "ternary": (
        "int main()\n{\n    x = a ? b;\n    return 0;\n}\n",
        [
            ("E0207", 3, 14, "expected `:` and the other value of `?`, found `;`",
                "a conditional expression has two values: `condition ? a : b`", None),
        ],
    ),
    "word_operator": (
        "int main()\n{\n    x = a and b;\n    return 0;\n}\n",
        [
            (
                "E0206", 3, 11, "expected an operator or `;`, found `and`",
                "put an operator between the two, or a `;` if a statement ends here", None,
            ),
        ],
    ),
    "use_no_colon": (
        "use Array;\nint main() { return 0; }\n",
        [
            ("E0201", 1, 10, "expected `:` behind the module's name, found `;`",
                "write `use Array: all;` or `use Array: {f, g};`", "use Array: all;"),
        ],
    ),
    "use_no_list": (
        "use Array: sum;\nint main() { return 0; }\n",
        [
            ("E0239", 1, 12, "expected `all` or a list of symbols, found `sum`",
                "write `all`, `all except {f, g}` or `{f, g}`", None),
        ],
    ),
    "use_missing_semicolon": (
        "use Array: all\nuse StdIO: all;\nint main() { return 0; }\n",
        [
            ("E0202", 1, 15, "expected `;`, found `use`", "a `;` ends every statement and declaration",
                "use Array: all;"),
        ],
    ),
    "unsigned": (
        "unsigned int f(int a) { return a; }\nint main()\n{\n    x = 1;\n    return 0;\n}\n",
        [
            ("E0210", 1, 1, "SaC has no `unsigned`",
                "unsigned types are `ubyte`, `ushort`, `uint`, `ulong`, `ulonglong`: write `uint`",
                "uint f(int a) { return a; }"),
        ],
    ),
    "two_stars": (
        "int f(int[*,+] a) { return 1; }",
        [
            ("E0211", 1, 13, "a type pattern holds at most one `*` or `+`",
                "name the parts instead, as in `int[o:outer,i:inner]`", None),
        ],
    ),
    "bad_feature": (
        "int f(int[-1] a) { return 1; }",
        [
            ("E0211", 1, 11, "expected an extent in a type, found `-`",
                "see type patterns: `int[3]`, `int[.]`, `int[n,m]`, `int[d:shp]`", None),
        ],
    ),
    "no_param_name": (
        "int f(int, int b) { return b; }",
        [
            ("E0243", 1, 7, "a parameter is a type and a name", "write a name behind the type; it need not be used",
                None),
        ],
    ),
    "no_param_type": (
        "int f(a, b) { return b; }",
        [
            ("E0243", 1, 7, "a parameter is a type and a name",
                "write the type before it, or the name behind it, as in `int a`", None),
        ],
    ),
    "default_param": (
        "int f(int a = 3) { return a; }",
        [
            ("E0243", 1, 13, "a parameter has no default value",
                "overload the function: a second instance without the parameter calls this one", None),
        ],
    ),
    "pointer_param": (
        "int f(int *a) { return a; }",
        [
            ("E0218", 1, 11, "SaC has no pointers",
                "an array parameter is written `int[.] a`, a parameter that the function changes `int &a`", None),
        ],
    ),
    "nested_function": (
        "int main()\n{\n    int g(int x) { return x; }\n    return 0;\n}\n",
        [
            ("E0235", 3, 5, "a definition stands only outside all functions",
                "functions do not nest: move it before or behind this function", None),
        ],
    ),
    "inline_noinline": (
        "inline noinline int f(int x) { return x; }",
        [
            ("E0240", 1, 8, "a function cannot be both `inline` and `noinline`", "keep one of the two",
                "inline  int f(int x) { return x; }"),
        ],
    ),
    "module_late": (
        "use Array: all;\nmodule M;\n",
        [
            ("E0238", 2, 1, "`module` stands only at the very beginning of a file",
                "move it before everything else; a file holds one module or class", None),
        ],
    ),
    "class_no_type": (
        "class C;\nint f(int x) { return x; }\n",
        [
            ("E0238", 2, 1, "expected `classtype`, found `int`",
                "behind `class C;` stands `classtype double[.];` or `external classtype;`", None),
        ],
    ),
    "head_without_body": (
        "int f(int x)\nint g(int y) { return y; }\n",
        [
            ("E0244", 1, 13, "expected the body of `f` or `;`, found `int`",
                "a definition has a block behind its head, a declaration a `;`", None),
        ],
    ),
    "multi_value": (
        "int main()\n{\n    a, b = 1, 2;\n    return 0;\n}\n",
        [
            ("E0232", 3, 13, "an assignment has one expression on its right side",
                "write one assignment for each variable; only a call, a with-loop or a comprehension has several "
                    "results", None),
        ],
    ),
    "multi_compound": (
        "int main()\n{\n    a, b += 1;\n    return 0;\n}\n",
        [
            ("E0232", 3, 10, "`+=` has one variable on its left side", "write one statement for each variable", None),
        ],
    ),
    "struct_mixed": (
        "int main()\n{\n    x = S{.a = 1, 2};\n    return 0;\n}\n",
        [
            ("E0221", 3, 19, "a struct's values are either all named or all in order",
                "write `.field = ` before it, or name none", None),
        ],
    ),
    "struct_no_dot": (
        "int main()\n{\n    x = S{a = 1};\n    return 0;\n}\n",
        [
            ("E0221", 3, 11, "a named value of a struct begins with a dot", "write `.a = ..`", "    x = S{.a = 1};"),
        ],
    ),
    "missing_comma": (
        "int main()\n{\n    x = [1 2];\n    return 0;\n}\n",
        [
            ("E0206", 3, 12, "expected an operator, `,` or `]`, found `2`",
                "put an operator or a comma between the two", None),
        ],
    ),
    "trailing_comma": (
        "int main()\n{\n    x = f(1, );\n    return 0;\n}\n",
        [
            ("E0205", 3, 14, "expected an expression, found `)`",
                "leave the comma before it out, or write the missing value", None),
        ],
    ),
    "assign_call": (
        "int main()\n{\n    f(x) = 3;\n    return 0;\n}\n",
        [
            ("E0232", 3, 5, "this cannot be assigned to",
                "left of the sign stand variables, elements `a[i]` and fields `s.f`", None),
        ],
    ),
    "qualified_target": (
        "int main()\n{\n    M::x = 3;\n    return 0;\n}\n",
        [
            ("E0232", 3, 5, "what belongs to another module cannot be assigned",
                "an object changes through the functions of its class", None),
        ],
    ),
    "do_no_while": (
        "int main()\n{\n    do { x = 1; }\n    return 0;\n}\n",
        [
            ("E0201", 3, 18, "expected `while` behind the body of `do`, found `return`", "write `do { .. } while (c);`",
                None),
        ],
    ),
    "for_comma": (
        "int main()\n{\n    for (i = 0, i < 3, i++) { x = i; }\n    return 0;\n}\n",
        [
            (
                "E0202", 3, 15, "expected `;` in the head of the `for` loop, found `,`",
                "a loop reads `for (i = 0; i < n; i++)`", "    for (i = 0; i < 3; i++) { x = i; }",
            ),
        ],
    ),
    "empty_file_brace": (
        "{",
        [
            ("E0209", 1, 1, "a block stands only behind the head of a function",
                "give the function a head, as in `int f(int x) { .. }`; a `;` behind the head makes it a declaration",
                None),
        ],
    ),
    "number_def": (
        "3 + 4",
        [
            ("E0209", 1, 1, "expected a definition, found `3`",
                "a file holds `use` and `import` lines, types, objects and functions", None),
        ],
    ),
    "two_errors": (
        "int f()\n{\n    x = ;\n    y = 3;\n    return y +;\n}\nint main()\n{\n    z = f(;\n    return 0;\n}\n",
        [
            ("E0205", 3, 9, "expected an expression, found `;`", "write the missing value", None),
            ("E0205", 5, 15, "expected an expression, found `;`", "write the missing value", None),
            ("E0205", 9, 11, "expected an expression, found `;`", "write the missing value", None),
        ],
    ),
    "const": (
        "int main()\n{\n    const int x;\n    return 0;\n}\n",
        [
            ("E0210", 3, 5, "SaC has no `const`", "every variable is a value: leave the word out", "     int x;"),
        ],
    ),
    "deprecated": (
        "module X deprecated;\n",
        [
            ("E0201", 1, 20, "expected a string behind `deprecated`, found `;`",
                "say what to use instead: `module Old deprecated \"use New\";`", None),
        ],
    ),
    "missing_open_brace": (
        "int main()\n    x = 1;\n    return 0;\n}\nint f() { return 1; }\n",
        [
            ("E0244", 1, 11, "expected the body of `main` or `;`, found `x`",
                "a definition has a block behind its head, a declaration a `;`", "int main() {"),
        ],
    ),
    "less_equal_reversed": (
        "int main()\n{\n    x = with { ([0] =< iv < [3]) : 1; } : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0226", 3, 21, "expected `<` or `<=` in the generator, found `=`",
                "a generator reads `lb <= iv < ub`, `. <= iv <= .` or `lb <= [i,j] < ub`",
                "    x = with { ([0] <= iv < [3]) : 1; } : genarray([3]);"),
        ],
    ),
    "elif": (
        "int main()\n{\n    if (a) { x = 1; } elif (b) { x = 2; }\n    return 0;\n}\n",
        [
            ("E0214", 3, 23, "SaC has no `elif`", STATEMENTS, None),
        ],
    ),
    "semicolon_after_head": (
        "int main();\n{\n    return 0;\n}\n",
        [
            ("E0209", 2, 1, "a block stands only behind the head of a function",
                "give the function a head, as in `int f(int x) { .. }`; a `;` behind the head makes it a declaration",
                None),
        ],
    ),
    "arrow_result": (
        "int f(int x) -> int { return x; }",
        [
            ("E0244", 1, 14, "the result types stand before the function's name", "write `int f(..) { .. }`", None),
        ],
    ),
    "then": (
        "int main()\n{\n    if (a) then { x = 1; }\n    return 0;\n}\n",
        [
            ("E0214", 3, 12, "SaC has no `then`", STATEMENTS, None),
        ],
    ),
    "increment_expr": (
        "int main()\n{\n    x = y++;\n    z = 3;\n    return 0;\n}\n",
        [
            ("E0216", 3, 10, "`++` changes a variable and is not an expression",
                "write it as a statement before or behind this one", None),
        ],
    ),
    "reserved_param": (
        "int f(int while) { return 1; }",
        [
            ("E0228", 1, 11, "`while` is a word of the language and cannot be the name of a parameter",
                "choose another name, for instance `while_`", None),
        ],
    ),
    "hex_too_large_byte": (
        "int main()\n{\n    x = 128b;\n    return 0;\n}\n",
        [
            ("E0224", 3, 9, "`128b` is too large for a byte",
                "`-128b` is legal: the sign must stand right before the number", None),
        ],
    ),
    "bad_kind": (
        "inline <T num> T f(T x) { return x; }",
        [
            ("E0201", 1, 11, "expected `:` and the kind of the type variable, found `num`",
                "type variables are written `<T: num>`", None),
        ],
    ),
    "comprehension_item": (
        "int main()\n{\n    x = { [i+1] -> i | [i] < [3] };\n    return 0;\n}\n",
        [
            ("E0230", 3, 13, "the index of a comprehension holds names and dots, no computation",
                "put the computation behind the `->`", None),
        ],
    ),
    "second_dots": (
        "int main()\n{\n    x = a[..., 0, ...];\n    return 0;\n}\n",
        [
            ("E0219", 3, 19, "`...` stands at most once among indices",
                "it keeps all the axes the other indices leave; write `.` for each axis that this one should keep",
                None),
        ],
    ),
    "width_only": (
        "int main()\n{\n    x = with { (. <= iv <= . width [1]) : 1; } : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0226", 3, 30, "a width needs a step",
                "write `step s width w`; the width is how many of each s indices are taken", None),
        ],
    ),
    "rank_without_name": (
        "int f(int[d>0] a) { return 1; }",
        [
            ("E0211", 1, 11, "a condition on a rank needs the shape's name behind it", "write `d>0:shp`", None),
        ],
    ),
    "extent_double": (
        "int f(int[1.5] a) { return 1; }",
        [
            ("E0211", 1, 11, "an extent is a whole number, not `1.5`",
                "write a whole number, `.` for any extent, or a name", None),
        ],
    ),
    "error_in_with_body": (
        "int main()\n{\n    x = with {\n        (. <= iv <= .) {\n            y = ;\n            z = 3;\n"
            "        } : z;\n    } : genarray([3]);\n    w = 4 +;\n    return 0;\n}\n",
        [
            ("E0205", 5, 17, "expected an expression, found `;`", "write the missing value", None),
            ("E0205", 9, 12, "expected an expression, found `;`", "write the missing value", None),
        ],
    ),
    "error_in_condition_and_body": (
        "int main()\n{\n    if (a + ) {\n        x = ;\n    }\n    return 0;\n}\n",
        [
            ("E0205", 3, 13, "expected an expression, found `)`", "write the missing value", None),
            ("E0205", 4, 13, "expected an expression, found `;`", "write the missing value", None),
        ],
    ),
    "module_too_late_class": (
        "int f(int x) { return x; }\nclass C;\n",
        [
            ("E0238", 2, 1, "`class` stands only at the very beginning of a file",
                "move it before everything else; a file holds one module or class", None),
        ],
    ),
    "objdef_no_value": (
        "objdef int c;\n",
        [
            ("E0201", 1, 13, "expected `=` and the object's first value, found `;`",
                "an object is made by a call: `objdef C c = create();`", None),
        ],
    ),
    "fold_no_function": (
        "int main()\n{\n    x = with { ([0] <= iv < [3]) : 1; } : fold(3, 0);\n    return 0;\n}\n",
        [
            ("E0227", 3, 48, "expected the function to fold with, found `3`",
                "its name goes first, as in `fold(+, 0)` or `fold(max, minint())`", None),
        ],
    ),
    "foldfix_no_stop": (
        "int main()\n{\n    x = with { ([0] <= iv < [3]) : 1; } : foldfix(+, 0);\n    return 0;\n}\n",
        [
            ("E0227", 3, 55, "`foldfix` needs the value it stops at",
                "write `foldfix(f, neutral, stop)`, as in `foldfix(&, true, false)`", None),
        ],
    ),
    "genarray_three": (
        "int main()\n{\n    x = with { } : genarray([3], 0, 1);\n    return 0;\n}\n",
        [
            ("E0227", 3, 35, "`genarray` takes at most two arguments",
                "write `genarray(shape)` or `genarray(shape, default)`", None),
        ],
    ),
    "missing_closing_literal": (
        "int main()\n{\n    x = [1, 2\n    y = 3;\n    return 0;\n}\n",
        [
            ("E0203", 3, 14, "expected `,` or `]`, found `y`",
                "write `]` here, or look for a mistake between the `[` and this place", None),
        ],
    ),
    "brace_in_expression": (
        "int main()\n{\n    x = S{1, 2;\n    return 0;\n}\n",
        [
            ("E0204", 3, 10, "this brace is never closed",
                "write the missing `}`; by the indentation of the text, this is the brace that lacks it", None),
        ],
    ),
    "with_item": (
        "int main()\n{\n    x = with { 3; } : genarray([3]);\n    return 0;\n}\n",
        [
            ("E0226", 3, 16, "expected a partition or `}`, found `3`",
                "a partition begins with its generator in parentheses: `(lb <= iv < ub) : e;`", None),
        ],
    ),
    "several_bad_end": (
        "int main()\n{\n    x = with { (. <= iv <= .) : (1, 2) + 3; } : (genarray([3]), genarray([3]));\n"
            "    return 0;\n}\n",
        [
            ("E0201", 3, 40, "expected `;` behind several results, found `+`",
                "several results are no value to compute with", None),
        ],
    ),
    "block_at_top": (
        "{ x = 1; }\nint main() { return 0; }\n",
        [
            ("E0209", 1, 1, "a block stands only behind the head of a function",
                "give the function a head, as in `int f(int x) { .. }`; a `;` behind the head makes it a declaration",
                None),
        ],
    ),
    "typedef_c_array": (
        "typedef double complex[2];\nint main() { return 0; }\n",
        [
            ("E0234", 1, 23, "extents stand behind the type, not behind the name", "write `double[2] complex`",
                "typedef double[2] complex;"),
        ],
    ),
    "return_in_loop": (
        "int main()\n{\n    while (a) {\n        return 1;\n    }\n    return 0;\n}\n",
        [
            ("E0215", 4, 9, "`return` stands only at the end of a function's body",
                "assign the result to a variable in each branch, and return it at the end", None),
        ],
    ),
    "not_equal_equal": (
        "int main()\n{\n    x = a !== b;\n    return 0;\n}\n",
        [
            ("E0217", 3, 11, "there is no operator `!==`", "SaC compares with `!=`", "    x = a != b;"),
        ],
    ),
    "qualified_nothing": (
        "int main()\n{\n    x = M::;\n    return 0;\n}\n",
        [
            ("E0201", 3, 12, "expected a name behind `M::`, found `;`",
                "write the name of a function or object of that module", None),
        ],
    ),
}  # fmt: skip


def found(text: str) -> tuple[Diagnostic, ...]:
    return parse_module(Source("test.sac", text)).diagnostics


def applied(text: str, diagnostic: Diagnostic) -> str | None:
    if diagnostic.edit is None:
        return None
    return diagnostic.edit.applied(text)


@pytest.mark.parametrize("name", CASES)
def test_message(name: str) -> None:
    text, expected = CASES[name]
    rows = []
    for d in found(text):
        edited = applied(text, d)
        line = None if edited is None or d.edit is None else edited.split("\n")[d.edit.span.line - 1]
        rows.append((d.code, d.span.line, d.span.column, d.message, d.help, line))
    assert rows == expected


@pytest.mark.parametrize("name", [name for name, (_, expected) in CASES.items() if expected[0][5] is not None])
def test_the_suggested_edit_mends_the_program(name: str) -> None:
    text, expected = CASES[name]
    edited = applied(text, found(text)[0])
    assert edited is not None
    assert len(found(edited)) == len(expected) - 1


def test_every_message_says_what_to_do() -> None:
    assert all(help and label for text, _ in CASES.values() for help, label in ((d.help, d.label) for d in found(text)))


DEEP = 10_000


@pytest.mark.parametrize(
    "text",
    [
        *(
            f"int main() {{ x = {a * DEEP}1{b * DEEP}; return x; }}"
            for a, b in [
                ("(", ")"),
                ("[", "]"),
                ("- ", ""),
                ("!(", ")"),
                ("(int[3]) ", ""),
                ("f(", ")"),
                ("a ? b : ", ""),
                ("a ? ", " : b"),
                ("S{", "}"),
            ]
        ),
        f"int main() {{ x = {'a + ' * 2 * DEEP}1; return x; }}",
        *(
            f"int main() {{ x = {a * DEEP}"
            for a in [
                "(",
                "[",
                "{ iv -> ",
                "with { (. <= iv <= .) : ",
                "with { (. <= iv <= .) { a = ",
                "f(",
                "a[",
                "S{.a = ",
            ]
        ),
        *(
            f"int main() {{ {a * DEEP} return 0; }}"
            for a in ["if (a) {", "while (a) ", "do ", "for (;a;) ", "if (a) x = 1; else "]
        ),
        "int main() { if (a) {} " + "else if (a) { x = 1; } " * 5000 + "return 0; }",
        "int main() { x = a" + "[0]" * 2 * DEEP + "; return x; }",
        "int main() { x = a" + ".f" * 2 * DEEP + "; return x; }",
    ],
    ids=range(26),
)
def test_deep_nesting_is_one_diagnostic(text: str) -> None:
    diagnostics = found(text)
    assert [d.code for d in diagnostics] == ["E0223"]


@pytest.mark.parametrize(
    "text",
    [
        "int[" * DEEP,
        "int," * DEEP,
        "int f(" * DEEP,
        "}" * DEEP,
        "{" * DEEP,
        "use A:{" * DEEP,
        "a " * DEEP,
        ";" * DEEP + "x",
        "int main(){" + "{" * DEEP,
        "int main() {" + "}{" * DEEP,
        "struct S {" * DEEP,
    ],
)
def test_garbage_of_one_kind_ends_in_few_diagnostics(text: str) -> None:
    assert 1 <= len(found(text)) <= 2


def test_a_long_chain_is_no_nesting() -> None:
    assert not found("int main() { x = " + "a + " * 5000 + "1; y = a" + ".f" * 5000 + "; return x; }")


def test_400_levels_are_fine() -> None:
    assert not found(
        "int main() { x = "
        + "(" * 400
        + "1"
        + ")" * 400
        + "; if (a) {} "
        + "else if (a) { x = 1; } " * 400
        + "return x; }"
    )


WHOLE = """module M;
use Array: all except {sum, ++};
typedef double[2] complex;
struct Body { double[3] pos, vel; };
inline bool[*], int == (int[d:shp] a, int[n,m] &b) | (d == 2), n > m { return (true, 1); }
external int, ... f(int a, ...);
int main() {
  int a;
  a = with { (. <= iv=[i,j] < n step [2,2] width [1,1]) { x = iv; } : (x, y); } : (genarray(shp, 0), fold(+, 0));
  for (i = 0; i < 3; i++) { if (a[i] == 1) { a[i, ., ...].f += 1; } else if (b) x = { [i,.] -> a[i] | [i] < [3];
    iv -> 2 }; }
  do { b = Body{.pos = p}; c = (complex)[1.0, 2.0] * -x ++ y; } while (c ? d : !e);
  return 0;
}
"""


def test_every_beginning_of_a_program_ends_in_a_diagnostic_or_a_tree() -> None:
    for end in range(len(WHOLE)):
        for d in found(WHOLE[:end]):
            assert d.span.line >= 1 and d.message


def test_a_changed_character_makes_at_most_three_diagnostics() -> None:
    for at, change in product(range(0, len(WHOLE), 4), ("", "(", "}", ";", " x ")):
        diagnostics = found(WHOLE[:at] + change + WHOLE[at + 1 :])
        assert len(diagnostics) <= 3, (at, change, [(d.code, d.message, d.span) for d in diagnostics])


ARROWS = (
    "x = sum(iv -> v[iv] | [0] <= iv <= m, [i] -> 1); }",
    "return [i] -> 1 | [i] < n[2]; [i] -> 2 | i < 3; {] [i] -> 1 | n [j] -> 2; }",
    "x = { [i] -> p[i]->k | [i] < n [j] -> { iv -> a[iv] | iv < [2] [j] -> (q->k)[1] -> 3 | j < 2 } | [i] < [3] }; }",
)


@pytest.mark.parametrize("text", ARROWS)
def test_every_beginning_with_an_arrow_out_of_place_ends_in_a_diagnostic(text: str) -> None:
    for end in range(len(text) + 1):
        for whole in (f"int main() {{ {text[:end]}", f"int main() {{ {text[:end]}; return 0; }}"):
            assert all(d.span.line >= 1 and d.message for d in found(whole))


def test_partitions_without_braces_are_not_told_of_the_semicolon_that_is_there() -> None:
    text = "int[.] f(int[.] v)\n{\n  return [i] -> 1 | [i] < [1];\n         [i] -> v[i] | [i] < [3];\n}"
    assert [(d.code, d.span.line) for d in found(text)] == [("E0230", 3), ("E0230", 4)]
