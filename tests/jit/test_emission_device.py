"""Kernels as NVVM IR, PTX and cubins: through libNVVM and through LLVM's NVPTX, assembled; nothing is launched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacpy.jit.emission import assemble, libnvvm, nvjitlink, nvptx, toolchain
from sacpy.jit.emission.assemble import Assembled, cubin, emitted, link, resources, sass, translate
from sacpy.jit.emission.geometry import MOST_STATIC_SHARED, fixed_dynamic_bytes, geometry
from sacpy.jit.emission.nvvm import device_text, function_name
from sacpy.jit.emission.toolchain import AssemblyError
from sacpy.jit.failures import Unsupported
from sacpy.nodes import replace
from tests.jit.kernel_programs import PROGRAMS, P, operation, program

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")
FRONTS = ("libnvvm", "nvptx")


def needs(*tools: str) -> pytest.MarkDecorator:
    there = {
        "libnvvm": toolchain.libnvvm(),
        "libdevice": toolchain.libdevice(),
        "nvjitlink": toolchain.nvjitlink(),
        "ptxas": toolchain.program("ptxas"),
    }
    lacking = [tool for tool in tools if not there[tool]]
    return pytest.mark.skipif(
        bool(lacking),
        reason=f"no {', '.join(lacking)} here: pip install {' '.join(sorted({toolchain.WHEELS[t] for t in lacking}))}",
    )


def is_cubin(made: Assembled) -> bool:
    return made.code[:4] == b"\x7fELF" and made.resources.registers > 0


@needs("libnvvm", "libdevice", "ptxas")
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_are_assembled(name: str) -> None:
    at = list(PROGRAMS).index(name)
    assert is_cubin(cubin(PROGRAMS[name]().kernel, ARCHITECTURES[at % 4], front=FRONTS[at % 2], back="ptxas"))


@needs("libnvvm", "libdevice", "nvjitlink", "ptxas")
@pytest.mark.long
@pytest.mark.parametrize("back", ["nvjitlink", "ptxas"])
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("arch", [*ARCHITECTURES, "sm_120"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_are_assembled_for_all_generations_by_all_tools(name: str, arch: str, front: str, back: str) -> None:
    assert is_cubin(cubin(PROGRAMS[name]().kernel, arch, front=front, back=back))


# ---------------------------------------------------------------- the text


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_keeps_to_what_every_consumer_takes(name: str) -> None:
    text = device_text(PROGRAMS[name]().kernel).text
    assert not re.search(r"\b(fneg|freeze|ptr|poison|memory)\b", text)
    assert not re.search(r"@llvm\.(?!nvvm\.(read\.ptx\.sreg\.|barrier0|membar\.gl|mul\.rn\.|shfl\.sync\.down))", text)
    assert "!nvvm.annotations = !{!" in text and "!nvvmir.version = " in text


def test_parameters_come_in_order_then_scratch_then_the_check_word() -> None:
    text = device_text(PROGRAMS["scratch_array"]().kernel).text
    (head,) = [line for line in text.splitlines() if line.startswith("define")]
    g = "addrspace(1)*"
    assert (
        head == f"define void @sac_scratch_array(i32 %p0, i32 %p1, double {g} noalias readonly %p2, double {g} noalias "
        f"%p3, double {g} noalias %s0.scratch, i32 {g} %failed) {{"
    )


def test_bools_are_bytes_outside_of_registers() -> None:
    (head,) = [line for line in device_text(PROGRAMS["scan"]().kernel).text.splitlines() if line.startswith("define")]
    assert "i8 %p1" in head and " i1 " not in head


def test_barriers_stay_in_place_and_only_there() -> None:
    assert device_text(PROGRAMS["matmul"]().kernel).text.count("call void @llvm.nvvm.barrier0()") == 2
    assert "barrier" not in device_text(PROGRAMS["elementwise"]().kernel).text


def test_index_words_have_the_kernel_s_width() -> None:
    assert "mul i32 %t1, 32" in device_text(PROGRAMS["elementwise"]().kernel).text
    assert re.search(r"mul i64 %t\d+, 32", device_text(PROGRAMS["elementwise_long"]().kernel).text)


def test_block_extents_that_are_constants_bound_the_registers() -> None:
    assert '!"maxntidx", i32 8, !"maxntidy", i32 8' in device_text(PROGRAMS["matmul"]().kernel).text
    assert "maxntid" not in device_text(PROGRAMS["block_parameter"]().kernel).text


def test_names_become_plain_identifiers() -> None:
    kernel = replace(PROGRAMS["elementwise"]().kernel, name='a::b@1 "x"')
    assert function_name(kernel) == "sac_a__b_1__x_"
    assert "@sac_a__b_1__x_(" in device_text(kernel).text


@needs("libnvvm", "libdevice")
@pytest.mark.parametrize("front", FRONTS)
def test_contraction_is_off_when_strict(front: str) -> None:
    kernel = PROGRAMS["elementwise"]().kernel
    loose, strict = (translate(device_text(kernel, strict=s), "sm_90", front)[0] for s in (False, True))
    assert "fma.rn.f64" in loose
    assert "fma" not in strict and "mul" in strict and "add" in strict


@needs("libnvvm")
@pytest.mark.parametrize("base", ["double", "float"])
@pytest.mark.parametrize("front", FRONTS)
def test_neither_of_two_products_is_more_exact_where_one_is_subtracted_from_the_other(front: str, base: str) -> None:
    p = P("difference", [4], [32])
    n = p.scalar("n")
    a, b, r = p.array("a", base, n), p.array("b", base, n), p.result("r", base, n)
    with p.forall(32) as (t, x), t.when(t.op("lt", x, n)) as g:
        v, w = g.load(a, x), g.load(b, x)
        g.store(r, x, g.op("add", g.op("sub", g.op("mul", v, w), g.op("mul", w, w)), g.op("mul", v, v)))
    kernel = program(p, [0, *([np.zeros(0, "f8" if base == "double" else "f4")] * 3)]).kernel
    ptx, _ = translate(device_text(kernel), "sm_90", front)
    bits = "f64" if base == "double" else "f32"
    assert ptx.count(f"mul.rn.{bits}") == 2 and f"sub.{bits}" in ptx.replace("sub.rn", "sub")
    assert ptx.count(f"fma.rn.{bits}") == 1


@needs("libnvvm", "libdevice")
@pytest.mark.parametrize("front", FRONTS)
def test_division_and_roots_are_rounded_correctly_and_small_numbers_kept(front: str) -> None:
    for op, bases, wanted in (
        ("div", ["float", "float"], "div.rn.f32"),
        ("sqrt", ["float"], "sqrt.rn.f32"),
        ("sqrt", ["double"], "sqrt.rn.f64"),
    ):
        ptx, _ = translate(device_text(operation(op, [("x", bases, 0)])), "sm_90", front)
        assert wanted in ptx and ".ftz" not in ptx


@needs("libnvvm", "libdevice")
@pytest.mark.parametrize("front", FRONTS)
def test_arrays_that_are_only_read_go_through_the_read_only_path(front: str) -> None:
    ptx, _ = translate(device_text(PROGRAMS["elementwise"]().kernel), "sm_90", front)
    assert ptx.count("ld.global.nc") == 2
    in_place, _ = translate(device_text(PROGRAMS["interior"]().kernel), "sm_90", front)
    assert "ld.global" in in_place and "ld.global.nc" not in in_place


# ---------------------------------------------------------------- shared memory


def large(cells: int) -> P:
    p = P("large", [1], [32])
    r = p.result("r", "double", 32)
    held = p.allocate("shared", "double", cells)
    other = p.allocate("shared", "byte", 3)
    with p.forall(32) as (t, x):
        t.store(held, x, t.op("tod", x))
        with t.when(t.op("lt", x, 3)) as g:
            g.store(other, x, g.op("tob", x))
    p.barrier()
    with p.forall(32) as (t, x):
        i = t.op("sub", 31, x)
        t.store(r, x, t.op("add", t.load(held, i), t.op("tod", t.load(other, t.op("mod", x, 3)))))
    return p


@needs("libnvvm", "libdevice", "nvjitlink", "ptxas")
@pytest.mark.parametrize("front", FRONTS)
def test_much_shared_memory_is_asked_for_by_the_launch(front: str) -> None:
    few, many = large(32).kernel(), large(20000).kernel()
    assert (geometry(few, [None]).dynamic_bytes, fixed_dynamic_bytes(few)) == (0, 0)
    assert geometry(many, [None]).dynamic_bytes == fixed_dynamic_bytes(many) == 160003 > MOST_STATIC_SHARED
    for back in ("nvjitlink", "ptxas"):
        small, big = (cubin(kernel, "sm_80", front=front, back=back) for kernel in (few, many))
        assert (small.shared, small.resources.shared_bytes) == (0, 259)
        assert (big.shared, big.resources.shared_bytes) == (160003, 0)


@needs("libnvvm", "libdevice", "nvjitlink")
def test_what_a_kernel_needs_is_told() -> None:
    p = P("hungry", [1], [32])
    a, r = p.array("a", "int", 100), p.result("r", "int", 32)
    own = p.allocate("private", "int", 100)
    with p.forall(32) as (t, x):
        t.each(0, 100, lambda c, i: c.store(own, c.load(a, i), c.op("mul", i, x)))
        t.store(r, x, t.load(own, t.load(a, x)))
    found = cubin(p.kernel(), "sm_90").resources
    assert found.stack_bytes == 400 and found.spill_stores == found.spill_loads == 0


def test_resources_are_read_from_the_assembler_s_words() -> None:
    log = (
        "ptxas info    : Function properties for __internal_slow_path\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Function properties for sac_x\n    48 bytes stack frame, 12 bytes spill stores, 16 bytes "
        "spill loads\nptxas info    : Used 40 registers, used 1 barriers, 48 bytes cumulative stack size, 2048 bytes "
        "smem, 380 bytes cmem[0]\n"
    )
    found = resources(log)
    assert (found.registers, found.shared_bytes, found.stack_bytes, found.spill_stores, found.spill_loads) == (
        40,
        2048,
        48,
        12,
        16,
    )
    linked = (
        "info    : 0 bytes gmem\ninfo    : Function properties for 'sac_x':\n"
        "info    : used 8 registers, used 1 barriers, 16 stack, 1536 bytes smem, 536 bytes cmem[0], 0 bytes lmem\n"
    )
    found = resources(linked)
    assert (found.registers, found.shared_bytes, found.stack_bytes) == (8, 512, 16)
    both = resources(log + linked)
    assert (both.registers, both.shared_bytes, both.stack_bytes) == (40, 2048, 48)
    with pytest.raises(AssemblyError, match="it says nothing"):
        resources("")


# ---------------------------------------------------------------- failures


def test_what_llvm_would_die_of_does_not_come_near_it() -> None:
    good = device_text(operation("sqrt", [("x", ["double"], 0)]))
    bad = replace(good, text=good.text.replace("@__nv_dsqrt_rn", "@llvm.exp.f64"))
    with pytest.raises(AssemblyError, match=r"llvm\.exp\.f64 is no function that LLVM's NVPTX target is known to take"):
        nvptx.ptx(bad, "sm_90")


@needs("libdevice")
def test_a_function_that_libdevice_lacks_is_an_error() -> None:
    good = device_text(operation("sqrt", [("x", ["double"], 0)]))
    with pytest.raises(AssemblyError, match="libdevice has no __nv_sqroot"):
        nvptx.ptx(replace(good, text=good.text.replace("@__nv_dsqrt_rn", "@__nv_sqroot")), "sm_90")


@needs("libnvvm")
@pytest.mark.parametrize("front", FRONTS)
def test_text_that_is_no_llvm_is_an_error(front: str) -> None:
    text = device_text(PROGRAMS["interior"]().kernel)
    with pytest.raises(AssemblyError, match=r"no ptx could be made: (.|\n)*expected top-level entity"):
        translate(replace(text, text=text.text + "\nnonsense"), "sm_90", front)


@needs("nvjitlink", "ptxas")
@pytest.mark.parametrize("back", ["nvjitlink", "ptxas"])
def test_ptx_that_is_none_is_an_error(back: str) -> None:
    with pytest.raises(AssemblyError, match=r"no cubin could be made: (.|\n)*nonsense"):
        link(".version 7.8\n.target sm_90\n.address_size 64\nnonsense\n", "sm_90", back)


@pytest.mark.parametrize("arch", ["", "sm_9o", "compute_90", "sm_90 -o x", "sm_0"])
def test_architectures_are_written_as_sm_90_is(arch: str) -> None:
    with pytest.raises(AssemblyError, match="is no architecture"):
        cubin(PROGRAMS["interior"]().kernel, arch)


@needs("libnvvm", "nvjitlink", "ptxas")
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("back", ["nvjitlink", "ptxas"])
def test_generations_that_nobody_knows_are_errors(front: str, back: str) -> None:
    for arch in ("sm_30", "sm_999"):
        with pytest.raises(AssemblyError):
            cubin(PROGRAMS["interior"]().kernel, arch, front=front, back=back)


def test_llvm_takes_the_newest_processor_that_it_knows() -> None:
    assert [nvptx.processor(a) for a in ("sm_75", "sm_88", "sm_90a", "sm_103", "sm_121")] == [
        "sm_75",
        "sm_87",
        "sm_90",
        "sm_100",
        "sm_120",
    ]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on which nothing of NVIDIA's is installed."""
    cached = (
        toolchain.libnvvm,
        toolchain.libdevice,
        toolchain.nvjitlink,
        toolchain.program,
        libnvvm._library,
        libnvvm._libdevice,
        nvjitlink._library,
    )
    for f in cached:
        f.cache_clear()
    monkeypatch.setattr(toolchain, "_roots", lambda: iter([Path("/nowhere")]))
    monkeypatch.setenv("PATH", "/nowhere")
    yield
    monkeypatch.undo()
    for f in cached:
        f.cache_clear()


def test_without_the_wheels_llvm_makes_ptx_and_the_rest_says_what_to_install(bare: None) -> None:
    kernel = PROGRAMS["tree_sum"]().kernel
    ptx, tool = translate(device_text(kernel), "sm_90")
    assert ".visible .entry sac_tree_sum(" in ptx and tool.startswith("NVPTX of LLVM ")
    with pytest.raises(
        Unsupported,
        match=r"no cubin could be made: no nvjitlink or ptxas is installed here: pip install nvidia-nvjitlink$",
    ):
        cubin(kernel, "sm_90")
    for front, wheel in (("libnvvm", "libnvvm"), ("nvptx", "libdevice")):
        with pytest.raises(AssemblyError, match=f"no {wheel} is installed here: pip install nvidia-nvvm"):
            translate(device_text(operation("sin", [("x", ["double"], 0)])), "sm_90", front)
    for back, wheel in (("nvjitlink", "nvidia-nvjitlink"), ("ptxas", "nvidia-cuda-nvcc")):
        with pytest.raises(AssemblyError, match=f"pip install {wheel}$"):
            link(ptx, "sm_90", back)


def test_stages_are_shown() -> None:
    kernel = PROGRAMS["interior"]().kernel
    assert emitted(kernel, "kernel", "sm_90").startswith("kernel interior(")
    assert emitted(kernel, "nvvm", "sm_90").startswith("target datalayout")
    assert ".visible .entry sac_interior(" in emitted(kernel, "ptx", "sm_90")


@needs("nvjitlink")
@pytest.mark.skipif(
    not (toolchain.program("nvdisasm") or toolchain.program("cuobjdump")),
    reason="no nvdisasm or cuobjdump here: pip install nvidia-cuda-nvdisasm",
)
def test_machine_code_is_shown() -> None:
    assert "EXIT" in emitted(PROGRAMS["interior"]().kernel, "sass", "sm_90")


def test_machine_code_needs_a_disassembler(bare: None) -> None:
    with pytest.raises(
        AssemblyError,
        match="no sass could be made: no nvdisasm or cuobjdump is installed here: pip install nvidia-cuda-nvdisasm",
    ):
        sass(b"")


@needs("libnvvm", "libdevice", "nvjitlink", "ptxas")
def test_where_a_tool_refuses_the_next_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any) -> Any:
        raise AssemblyError("ptx", "not mine")

    kernel = PROGRAMS[next(iter(PROGRAMS))]().kernel
    monkeypatch.setattr(assemble.libnvvm, "ptx", refuses)
    assert assemble.cubin(kernel, "sm_90").front.startswith("NVPTX")
    monkeypatch.setattr(assemble.nvjitlink, "cubin", refuses)
    assert assemble.cubin(kernel, "sm_90").back == "ptxas"
    monkeypatch.setattr(assemble.nvptx, "ptx", refuses)
    with pytest.raises(AssemblyError, match="not mine"):
        assemble.cubin(kernel, "sm_90")
