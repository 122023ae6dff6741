"""Hot code in, native code out: specialiser, graph IR, passes, targets, cache, and the engine that decides.

The folders follow a function on its way: `specialise` (core to graph), `passes` (graph to graph), then `host` (graph to code for the CPU), or `kernels` (with-loop to kernel programs), `emission` (kernel programs to code) and `device` (running them, and where arrays are). The files beside them:

- the two languages, with what prints, checks and rewrites them: `graph`, `graph_printer`, `graph_verify`, `rewrite`, `kernel`, `kernel_printer`, `kernel_verify`, `shared_planner`;
- who decides, at run time: `engine`, `on_demand`, `dispatch`, `versions`, `turns`, `beside`, `fork`, `records`, `choice`, `cost`, `worth`, `kinds`, `options`, `interrupts`, `failures`, `remembered`;
- from a function to something that can be called: `regions`, `outline`, `rests`, `compiler`, `cache`, `fingerprint`;
- what users are told: `reports`, `measure`, `statistics`, `stages`, `kernel_stages`, `mapping_report`.
"""
