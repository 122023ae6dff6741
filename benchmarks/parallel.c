/* A matrix in compressed rows times a vector: what SciPy does, one row after the other. */

#include <stdint.h>

void spmv(const int32_t *offsets, const int32_t *columns, const double *values, const double *x, double *y, int64_t n)
{
  for (int64_t r = 0; r < n; r++) {
    double total = 0.0;
    for (int32_t i = offsets[r]; i < offsets[r + 1]; i++)
      total += values[i] * x[columns[i]];
    y[r] = total;
  }
}
