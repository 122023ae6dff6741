#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 8
#define MOST_AXES 256

static inline double horner(const double *c, int n, double x)
{
    double value = 0.0;
    for (int i = n - 1; i >= 0; i--)
        value = value * x + c[i];
    return value;
}

static const double above[] = {2.506628277459239, -30.66479806614716, 138.3577518672690, -275.9285104469687, 220.9460984245205, -39.69683028665376};
static const double under[] = {1.0, -13.28068155288572, 66.80131188771972, -155.6989798598866, 161.5858368580409, -54.47609879822406};
static const double tail_above[] = {2.938163982698783, 4.374664141464968, -2.549732539343734, -2.400758277161838, -0.3223964580411365, -0.007784894002430293};
static const double tail_under[] = {1.0, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462};

static inline double quantile(double p)
{
    double q = p - 0.5, r = q * q;
    double middle = q * horner(above, 6, r) / horner(under, 6, r);
    double s = sqrt(-2.0 * log(fmin(p, 1.0 - p)));
    double tail = horner(tail_above, 6, s) / horner(tail_under, 5, s);
    return p < 0.02425 ? tail : p > 0.97575 ? -tail : middle;
}

/* Paths are done LANES at a time, side by side. */
void option_pricing(double *price, int64_t paths, const int32_t *directions, const int32_t *places, const double *weights, const double *cholesky, const double *drift, const double *volatility, const double *strike, int64_t d, int64_t u)
{
    int64_t axes = d * u;
    double sum = 0.0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int64_t first = 0; first < paths; first += LANES) {
        double z[MOST_AXES][LANES], path[MOST_AXES][LANES], at[MOST_AXES][LANES], total[MOST_AXES][LANES];
        int32_t gray[LANES];
        for (int l = 0; l < LANES; l++)
            gray[l] = (first + l + 1) ^ (first + l + 1) >> 1;
        for (int64_t j = 0; j < axes; j++) {
            int32_t x[LANES] = {0};
            for (int b = 0; b < 30; b++)
#pragma omp simd
                for (int l = 0; l < LANES; l++)
                    x[l] ^= -(gray[l] >> b & 1) & directions[30 * j + b];
#pragma omp simd
            for (int l = 0; l < LANES; l++)
                z[j][l] = quantile((x[l] + 0.5) / 1073741824.0);
        }
        for (int64_t k = 0; k < d; k++) {
            int64_t here = places[3 * k], before = places[3 * k + 1], behind = places[3 * k + 2];
            for (int64_t i = 0; i < u; i++)
#pragma omp simd
                for (int l = 0; l < LANES; l++)
                    path[here * u + i][l] = weights[3 * k] * z[k * u + i][l]
                        + weights[3 * k + 1] * (before < 0 ? 0.0 : path[before * u + i][l])
                        + weights[3 * k + 2] * (behind < 0 ? 0.0 : path[behind * u + i][l]);
        }
        for (int64_t i = 0; i < u; i++)
            for (int l = 0; l < LANES; l++) {
                at[i][l] = 1.0;
                total[i][l] = 0.0;
            }
        for (int64_t k = 0; k < d; k++)
            for (int64_t i = 0; i < u; i++) {
                double shock[LANES] = {0.0};
                for (int64_t j = 0; j < u; j++)
#pragma omp simd
                    for (int l = 0; l < LANES; l++)
                        shock[l] += cholesky[i * u + j] * (path[k * u + j][l] - (k == 0 ? 0.0 : path[(k - 1) * u + j][l]));
#pragma omp simd
                for (int l = 0; l < LANES; l++) {
                    at[i][l] *= exp(drift[i] + volatility[i] * shock[l]);
                    total[i][l] += at[i][l];
                }
            }
        for (int l = 0; l < LANES && first + l < paths; l++) {
            double least = total[0][l];
            for (int64_t i = 1; i < u; i++)
                least = fmin(least, total[i][l]);
            sum += fmax(least / d - strike[0], 0.0);
        }
    }
    price[0] = sum / paths;
}
