"""`python -m sacpy`."""

import sys

from sac_lang import main

if __name__ == "__main__":
    sys.exit(main())
