#include <stdint.h>
#include <stdlib.h>

void histogram(int32_t *restrict h, const int32_t *restrict x, int64_t n, int64_t bins)
{
    for (int64_t b = 0; b < bins; b++)
        h[b] = 0;
#pragma omp parallel if (n > 20000)
    {
        int32_t *restrict own = calloc(bins, sizeof(int32_t));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            own[x[i]]++;
#pragma omp critical
        for (int64_t b = 0; b < bins; b++)
            h[b] += own[b];
        free(own);
    }
}
