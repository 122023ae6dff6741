"""Hot code in, native code out: specialiser, graph IR, passes, targets, cache, and the engine that decides."""
