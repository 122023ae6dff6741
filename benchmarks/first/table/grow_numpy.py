"""A vector that grows by a longer and longer piece in each round."""

import numpy as np

r = np.zeros(0, np.int32)
for i in range(3000):
    r = np.concatenate([r, np.arange(i, dtype=np.int32)])
print(len(r), (r % 1000).sum())
