#include <stdint.h>

static int32_t steps(double x, double y, int32_t limit)
{
    double re = 0.0, im = 0.0, re2 = 0.0, im2 = 0.0;
    int32_t n = 0;
    while (n < limit && re2 + im2 <= 4.0) {
        im = 2.0 * re * im + y;
        re = re2 - im2 + x;
        re2 = re * re;
        im2 = im * im;
        n++;
    }
    return n;
}

void mandelbrot(int32_t *restrict out, int64_t n, int64_t limit)
{
    double d = 2.5 / n;
#pragma omp parallel for schedule(dynamic) if (n > 50)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            out[i * n + j] = steps(j * d - 2.0, i * d - 1.25, limit);
}
