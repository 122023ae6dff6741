"""DLPack in both directions: the C structures, and the capsules that carry them.

In: an address, a dtype, a shape, a device and who keeps the memory alive; or somebody else's capsule. Out: a capsule;
or the same facts. Only unversioned capsules ("dltensor") are made and taken, which every library understands.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from sacpy.nodes import Node

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_KINDS = {code: kind for kind, code in _CODES.items()}
_NAME, _USED = b"dltensor", b"used_dltensor"


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_api.PyCapsule_IsValid.argtypes = (ctypes.py_object, ctypes.c_char_p)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_api.PyCapsule_SetName.argtypes = (ctypes.py_object, ctypes.c_char_p)
_RawDestructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))

_exported: dict[int, tuple[Any, ...]] = {}  # what capsules keep alive, by the address of their structure


def _delete(managed: Any) -> None:
    _exported.pop(ctypes.addressof(managed.contents), None)


def _destroy(capsule: int) -> None:
    """A capsule that nobody took goes with what it kept."""
    if _is_valid(capsule, _NAME):
        _exported.pop(_pointer(capsule, _NAME), None)


_DELETER = _Deleter(_delete)
_DESTRUCTOR = _RawDestructor(_destroy)


class Tensor(Node):
    """An array in memory: `device` is DLPack's type and number; `strides` in elements, None where dense; `owner` keeps
    it alive; `stream`: the one that he uses it in, None if that is not known."""

    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: tuple[int, int]
    owner: Any
    stream: int | None = None


def to_capsule(t: Tensor) -> Any:
    """A capsule for somebody else, who lets go of the owner when he is done."""
    rank = len(t.shape)
    shape = (ctypes.c_int64 * max(rank, 1))(*t.shape)
    strides = (ctypes.c_int64 * max(rank, 1))(*(t.strides or dense(t.shape)))
    managed = _Managed()
    managed.tensor = _Tensor(
        t.address, _Device(*t.device), rank, _Type(_CODES[t.dtype.kind], t.dtype.itemsize * 8, 1), shape, strides, 0
    )
    managed.deleter = _DELETER
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, strides, t.owner)
    return _api.PyCapsule_New(address, _NAME, ctypes.cast(_DESTRUCTOR, ctypes.c_void_p))


class _Taken:
    """Somebody else's structure, deleted when the last array on it has gone."""

    def __init__(self, managed: Any) -> None:
        self.managed = managed

    def __del__(self) -> None:
        if self.managed.deleter:
            self.managed.deleter(ctypes.byref(self.managed))


def from_capsule(capsule: Any) -> Tensor:
    """What is in somebody else's capsule, which is used up by that. Raises `ValueError` for one that is none, or of a
    type that SaC has not."""
    if not _api.PyCapsule_IsValid(capsule, _NAME):
        raise ValueError("this is no DLPack capsule, or has been used already")
    managed = _Managed.from_address(_api.PyCapsule_GetPointer(capsule, _NAME))
    t = managed.tensor
    kind = _KINDS.get(t.dtype.code)
    if kind is None or t.dtype.lanes != 1 or t.dtype.bits % 8:
        raise ValueError("its elements are of a type that SaC has not")
    _api.PyCapsule_SetName(capsule, _USED)
    shape = tuple(t.shape[k] for k in range(t.ndim))
    strides = tuple(t.strides[k] for k in range(t.ndim)) if t.strides else None
    return Tensor(
        (t.data or 0) + t.byte_offset,
        np.dtype(f"{kind}{t.dtype.bits // 8}"),
        shape,
        strides,
        (t.device.type, t.device.id),
        _Taken(managed),
    )


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a dense array in row-major order, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def is_dense(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    """Whether elements lie in row-major order without gaps; strides along axes of extent 1 do not count."""
    return strides is None or 0 in shape or all(a == b or e == 1 for a, b, e in zip(strides, dense(shape), shape))
