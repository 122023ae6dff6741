"""Functions that users of Numba and JAX write, captured as SaC, beside Numba."""
