"""What generated code calls: evaluation of primitives on values of any rank, and the helpers of with-loops, patterns
and calls."""
