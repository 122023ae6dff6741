#include <omp.h>
#include <stdint.h>
#include <stdlib.h>

static double scan(double *restrict s, const double *restrict x, double sum, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        s[i] = sum += x[i];
    return sum;
}

/* Each thread sums its part, then scans it from what all before it sum up to. */
void prefix(double *restrict s, const double *restrict x, int64_t n)
{
    int threads = omp_get_max_threads();
    if (n < 20000 || threads == 1) {
        scan(s, x, 0.0, n);
        return;
    }
    double *sums = calloc(threads, sizeof(double));
#pragma omp parallel num_threads(threads)
    {
        int all = omp_get_num_threads(), me = omp_get_thread_num();
        int64_t from = n * me / all, to = n * (me + 1) / all;
        double sum = 0.0;
        if (me < all - 1)
#pragma omp simd reduction(+ : sum)
            for (int64_t i = from; i < to; i++)
                sum += x[i];
        sums[me] = sum;
#pragma omp barrier
        double before = 0.0;
        for (int t = 0; t < me; t++)
            before += sums[t];
        scan(s + from, x + from, before, to - from);
    }
    free(sums);
}
