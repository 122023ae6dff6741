#include <stdint.h>

void livermore05(double *restrict out, const double *restrict x, const double *restrict y, const double *restrict z, int64_t n)
{
    double last = out[0] = x[0];
    for (int64_t i = 1; i < n; i++)
        out[i] = last = z[i] * (y[i] - last);
}
