"""What the engine expects of compiling and of interpreting, against what both take."""
