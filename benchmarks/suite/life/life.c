#include <stdint.h>

static inline int32_t rule(int32_t cell, int32_t around)
{
    return (around == 3) | ((cell == 1) & (around == 2));
}

static void generation(int64_t n, int64_t m, int32_t *restrict to, const int32_t *restrict from)
{
#pragma omp parallel for schedule(static) if (n * m > 20000)
    for (int64_t i = 0; i < n; i++) {
        const int32_t *restrict a = from + (i == 0 ? n - 1 : i - 1) * m, *restrict b = from + i * m, *restrict c = from + (i == n - 1 ? 0 : i + 1) * m;
        int32_t *restrict out = to + i * m;
#pragma omp simd
        for (int64_t j = 1; j < m - 1; j++)
            out[j] = rule(b[j], a[j - 1] + a[j] + a[j + 1] + b[j - 1] + b[j + 1] + c[j - 1] + c[j] + c[j + 1]);
        for (int64_t j = 0; j < m; j += m > 1 ? m - 1 : 1) {
            int64_t l = j == 0 ? m - 1 : j - 1, r = j == m - 1 ? 0 : j + 1;
            out[j] = rule(b[j], a[l] + a[j] + a[r] + b[l] + b[r] + c[l] + c[j] + c[r]);
        }
    }
}

/* After an odd number of generations the result is in v, else in w; the caller takes it from there. */
void life(int32_t *v, int32_t *w, const int32_t *u, int64_t generations, int64_t n, int64_t m)
{
    for (int64_t g = 0; g < generations; g++)
        generation(n, m, g % 2 == 0 ? v : w, g == 0 ? u : g % 2 == 0 ? w : v);
}
