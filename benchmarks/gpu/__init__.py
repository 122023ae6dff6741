"""Checks and measurements on a GPU: `python -m benchmarks.gpu` (`make gpu`). `cases` has what is measured, in SaC and
for the peers; `checks` what must agree with the interpreter; `measure` the clock and the peers; `mappings` compares
mappings of one with-loop; `steps` does all of this in a process that `runner` starts; `sanitizer` has compute-sanitizer
watch a program."""
