"""`python -m sacpy`."""

import sys

from sacpy.cli import main

if __name__ == "__main__":
    sys.exit(main())
