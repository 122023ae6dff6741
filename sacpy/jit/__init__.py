"""Hot code in, native code out: specialiser, graph IR, passes, targets, and the engine that decides.

A room imports what stands before it in this list, and nothing behind it:

- `failures`, `options`, `kinds`, `beside`, `cache`: what every room may use: how compiling may end, what it may be
  told, what a version knows of its arguments, how a job is given up, where code is kept;
- `ir`: the two languages, graphs and kernels, with what prints, checks and rewrites them;
- `analysis`: what is known of a graph: nothing in it changes one;
- `specialise` (core to graph) and `passes` (graph to graph);
- `llvm`: LLVM IR as text, and scalar operations in it, for the host and for GPUs;
- `schedule`: how loops run on the CPU, as data: what is chosen, and why;
- `fingerprint`: the name under which code is kept: a digest of all that it depends on;
- `host`: a graph as code for the CPU, the runtime of that code, loading and calling it;
- `kernels` (with-loop to kernel programs), `emission` (kernel programs to code) and `device` (running them, and where
  arrays are);
- `run`: who decides, while a program runs, what is compiled, and has it compiled;
- `reports`: what users are told of it.
"""
