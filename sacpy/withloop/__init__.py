"""Pure mathematics on index spaces: spaces, disjoint and complete partitions, combinators from index spaces to thread
spaces, strategies that choose them. Knows neither syntax trees nor LLVM nor a device driver."""
