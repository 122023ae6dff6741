"""SaC in Jupyter: a kernel for notebooks of SaC (`kernel`), and cells of SaC in notebooks of Python (`magic`). Nothing
here is imported by anything else, and ipykernel only where the kernel runs."""
