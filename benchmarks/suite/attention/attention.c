#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static double softmax_in_place(double *restrict s, int64_t m)
{
    double top = -DBL_MAX, total = 0.0;
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < m; j++)
        top = s[j] > top ? s[j] : top;
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < m; j++) {
        s[j] = exp(s[j] - top);
        total += s[j];
    }
    return total;
}

void attention(double *restrict out, const double *restrict q, const double *restrict k, const double *restrict v, int64_t n, int64_t m, int64_t d)
{
    double scale = 1.0 / sqrt((double)d);
#pragma omp parallel if (n * m > 1000)
    {
        double *restrict s = malloc(m * sizeof(double));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < m; j++) {
                double x = 0.0;
#pragma omp simd reduction(+ : x)
                for (int64_t c = 0; c < d; c++)
                    x += q[i * d + c] * k[j * d + c];
                s[j] = x * scale;
            }
            double total = softmax_in_place(s, m);
            double *restrict row = out + i * d;
            for (int64_t c = 0; c < d; c++)
                row[c] = 0.0;
            for (int64_t j = 0; j < m; j++)
#pragma omp simd
                for (int64_t c = 0; c < d; c++)
                    row[c] += s[j] * v[j * d + c];
            for (int64_t c = 0; c < d; c++)
                row[c] /= total;
        }
        free(s);
    }
}
