#include <stdint.h>
#include <stdlib.h>

void tridiagonal(double *restrict x, const double *restrict below, const double *restrict diagonal, const double *restrict above, const double *restrict right, int64_t n)
{
    double *restrict c = malloc(n * sizeof(double));
    c[0] = above[0] / diagonal[0];
    x[0] = right[0] / diagonal[0];
    for (int64_t i = 1; i < n; i++) {
        double f = 1.0 / (diagonal[i] - below[i] * c[i - 1]);
        c[i] = above[i] * f;
        x[i] = (right[i] - below[i] * x[i - 1]) * f;
    }
    for (int64_t i = n - 2; i >= 0; i--)
        x[i] -= c[i] * x[i + 1];
    free(c);
}
