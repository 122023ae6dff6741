#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* The least so far are kept in order; who is farther than the last of them, which nearly all are, costs one comparison. */
void neighbours(int32_t *found, double *far, const double *records, const double *place, int64_t n, int64_t k)
{
    for (int64_t r = 0; r < k; r++)
        far[r] = INFINITY;
    double *square = malloc(n * sizeof(double));
#pragma omp parallel for simd schedule(static) if (parallel : n > 20000)
    for (int64_t i = 0; i < n; i++) {
        double x = records[2 * i] - place[0], y = records[2 * i + 1] - place[1];
        square[i] = sqrt(x * x + y * y);
    }
    for (int64_t i = 0; i < n; i++)
        if (square[i] < far[k - 1]) {
            int64_t r = k - 1;
            for (; r > 0 && far[r - 1] > square[i]; r--) {
                far[r] = far[r - 1];
                found[r] = found[r - 1];
            }
            far[r] = square[i];
            found[r] = (int32_t)i;
        }
    free(square);
}
