#include <stdint.h>

#define SIDE 64
#define GAP 3

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static void block(int64_t n, int32_t *restrict t, const int32_t *restrict s, int64_t top, int64_t left)
{
    for (int64_t i = top + 1; i <= top + SIDE; i++) {
        const int32_t *restrict above = t + (i - 1) * n;
        int32_t *restrict here = t + i * n;
        const int32_t *restrict alike = s + i * n;
        int32_t last = here[left];
        for (int64_t j = left + 1; j <= left + SIDE; j++) {
            last = larger(above[j - 1] + alike[j], larger(above[j], last) - GAP);
            here[j] = last;
        }
    }
}

void needleman_wunsch(int32_t *restrict t, const int32_t *restrict s, int64_t n)
{
    int64_t q = (n - 1) / SIDE;
    for (int64_t i = 0; i < n; i++) {
        t[i] = -GAP * (int32_t)i;
        t[i * n] = -GAP * (int32_t)i;
    }
    for (int64_t d = 0; d < 2 * q - 1; d++) {
        int64_t first = d < q ? 0 : d - q + 1, last = d < q ? d : q - 1;
#pragma omp parallel for schedule(static) if (last - first > 3)
        for (int64_t k = first; k <= last; k++)
            block(n, t, s, k * SIDE, (d - k) * SIDE);
    }
}
