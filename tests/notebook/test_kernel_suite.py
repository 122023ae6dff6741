"""The public test suite for Jupyter kernels, filled with SaC."""

from typing import ClassVar

import jupyter_kernel_test


class TestSacKernel(jupyter_kernel_test.KernelTests):
    """What every kernel must do."""

    kernel_name = "sac"
    language_name = "sac"
    file_extension = ".sac"
    code_hello_world = 'printf("hello, world\\n");'
    code_stderr = 'fprintf(stderr, "careful\\n");'
    completion_samples: ClassVar = [
        {"text": "resh", "matches": {"reshape"}},
        {"text": "x = genarray([3], 0);\nresh", "matches": {"reshape"}},
        {"text": ":var", "matches": {"vars"}},
        {"text": "x = 1;\n:var", "matches": {"vars"}},
        {"text": "use Numerica", "matches": {"Numerical"}},
    ]
    complete_code_samples: ClassVar = [
        "1 + 2",
        "x = 3;",
        "int f(int a) { return a; }",
        "// nothing",
        "",
        ":vars",
        "?sum",
        "struct P { int a; };",
    ]
    incomplete_code_samples: ClassVar = ["1 +", "x = [1, 2", "int f(int a) {", "/* begins", "x = with {"]
    invalid_code_samples: ClassVar = ["1 + )", "int int;", "x = = 3;"]
    code_page_something = "?reshape"
    code_generate_error = "1 + true"
    code_execute_result: ClassVar = [
        {"code": "1 + 2", "result": "int 3"},
        {"code": "x = 6; x * 7", "result": "int 42"},
        {"code": "[1, 2, 3]", "mime": "text/html"},
        {"code": "reshape([0, 3], [:int])", "result": "int[0,3] []"},
        {"code": "1 + 2", "result": "int 3"},
    ]
    code_display_data: ClassVar = [
        {"code": ":img reshape([2, 2], [0.0, 0.5, 0.75, 1.0])", "mime": "image/png"},
        {"code": ":plot [1, 4, 2]", "mime": "image/svg+xml"},
        {"code": ":picture { [i, j] -> i + j | [i, j] < [4, 5] }", "mime": "image/svg+xml"},
    ]
    code_history_pattern = "1 + 2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "reshape"
    code_clear_output = 'printf("\\033[2J");'
