"""How loops run on the CPU, as data: which axis is dealt out to threads, which is cut into strips or tiles, where the
lanes are, what stands in front of a loop. `loops` has the words, `withloops` and `counting` choose, `schedule_verify`
has the laws, `schedule_printer` shows it. Whoever writes code only walks through it."""
