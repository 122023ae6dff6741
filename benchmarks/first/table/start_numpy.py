"""Nothing but NumPy: what a process takes by itself."""

import numpy as np

assert np
