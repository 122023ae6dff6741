"""The playground: one page that runs the interpreter in a browser. `play.py` is what the worker runs; `build.py` puts
the page together."""
