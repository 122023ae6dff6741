"""A question about twenty million bools."""

import numpy as np

print(int(np.any(np.zeros(20000000, np.bool_))))
