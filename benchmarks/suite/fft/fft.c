#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct complex {
    double re, im;
};

/* The autosort algorithm of Stockham: `count` transforms of `half` pairs side by side, then half as many pairs of twice as many. */
static void pass(struct complex *restrict to, const struct complex *restrict from, const struct complex *restrict roots, int64_t half, int64_t count)
{
#pragma omp parallel for schedule(static) if (half * count > 20000)
    for (int64_t p = 0; p < half; p++) {
        struct complex w = roots[p * count];
        for (int64_t q = 0; q < count; q++) {
            struct complex a = from[q + count * p], b = from[q + count * (p + half)];
            double re = a.re - b.re, im = a.im - b.im;
            to[q + count * 2 * p] = (struct complex){a.re + b.re, a.im + b.im};
            to[q + count * (2 * p + 1)] = (struct complex){re * w.re - im * w.im, re * w.im + im * w.re};
        }
    }
}

void fft(double *restrict re, double *restrict im, const struct complex *x, const struct complex *roots, int64_t n)
{
    struct complex *buffers = malloc(2 * n * sizeof(struct complex)), *from = buffers, *to = buffers + n;
    memcpy(from, x, n * sizeof(struct complex));
    for (int64_t half = n / 2, count = 1; half >= 1; half /= 2, count *= 2) {
        pass(to, from, roots, half, count);
        struct complex *t = from;
        from = to;
        to = t;
    }
    for (int64_t k = 0; k < n; k++) {
        re[k] = from[k].re;
        im[k] = from[k].im;
    }
    free(buffers);
}
