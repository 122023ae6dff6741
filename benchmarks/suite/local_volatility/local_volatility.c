#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define NU 0.6
#define BETA 0.5

static void weights(double (*w)[3], const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || i == n - 1) {
            w[i][0] = w[i][1] = w[i][2] = 0.0;
            continue;
        }
        double before = x[i] - x[i - 1], behind = x[i + 1] - x[i], both = before + behind;
        w[i][0] = 2.0 / before / both;
        w[i][1] = -2.0 / before / behind;
        w[i][2] = 2.0 / behind / both;
    }
}

/* Systems along the first axis of n x m arrays, all m at once: neighbours lie side by side, and are done together. */
static void down(int64_t n, int64_t m, double u[restrict n][m], double c[restrict n][m],
                 const double variance[restrict n][m], double (*wx)[3], double rate)
{
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
        double f = 1.0 / (rate - 0.25 * variance[0][j] * wx[0][1]);
        c[0][j] = -0.25 * variance[0][j] * wx[0][2] * f;
        u[0][j] *= f;
    }
    for (int64_t i = 1; i < n; i++)
#pragma omp simd
        for (int64_t j = 0; j < m; j++) {
            double q = -0.25 * variance[i][j], below = q * wx[i][0];
            double f = 1.0 / (rate + q * wx[i][1] - below * c[i - 1][j]);
            c[i][j] = q * wx[i][2] * f;
            u[i][j] = (u[i][j] - below * u[i - 1][j]) * f;
        }
    for (int64_t i = n - 2; i >= 0; i--)
#pragma omp simd
        for (int64_t j = 0; j < m; j++)
            u[i][j] -= c[i][j] * u[i + 1][j];
}

static void value(int64_t n, int64_t m, double v[restrict n][m], double u[restrict n][m], double c[restrict n][m],
                  double along[restrict n][m], double variance[restrict n][m], const double *x, const double *y,
                  double (*wx)[3], double (*wy)[3], double strike, const double *times, int64_t steps)
{
    double nu = NU * NU;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            v[i][j] = fmax(x[i] - strike, 0.0);
    double *factor = malloc(2 * m * sizeof(double)), *above = factor + m;
    for (int64_t k = steps - 2; k >= 0; k--) {
        double rate = 1.0 / (times[k + 1] - times[k]);
        for (int64_t i = 0; i < n; i++) {
            double lx = log(x[i]);
#pragma omp simd
            for (int64_t j = 0; j < m; j++)
                variance[i][j] = exp(2.0 * (BETA * lx + y[j] - 0.5 * nu * times[k]));
        }
        for (int64_t i = 0; i < n; i++) {
            const double *before = v[i == 0 ? 0 : i - 1], *behind = v[i == n - 1 ? i : i + 1];
            along[i][0] = along[i][m - 1] = 0.0;
#pragma omp simd
            for (int64_t j = 1; j < m - 1; j++)
                along[i][j] = 0.5 * nu * (wy[j][0] * v[i][j - 1] + wy[j][1] * v[i][j] + wy[j][2] * v[i][j + 1]);
#pragma omp simd
            for (int64_t j = 0; j < m; j++)
                u[i][j] = rate * v[i][j] + along[i][j]
                    + 0.25 * variance[i][j] * (wx[i][0] * before[j] + wx[i][1] * v[i][j] + wx[i][2] * behind[j]);
        }
        down(n, m, u, c, variance, wx, rate);
        /* the systems along the second axis have the same matrix in each row: it is eliminated once */
        for (int64_t j = 0; j < m; j++) {
            factor[j] = 1.0 / (rate - 0.25 * nu * wy[j][1] + (j == 0 ? 0.0 : 0.25 * nu * wy[j][0] * above[j - 1]));
            above[j] = -0.25 * nu * wy[j][2] * factor[j];
        }
        for (int64_t i = 0; i < n; i++) {
            double *row = v[i];
            row[0] = (rate * u[i][0] - 0.5 * along[i][0]) * factor[0];
            for (int64_t j = 1; j < m; j++)
                row[j] = (rate * u[i][j] - 0.5 * along[i][j] + 0.25 * nu * wy[j][0] * row[j - 1]) * factor[j];
            for (int64_t j = m - 2; j >= 0; j--)
                row[j] -= above[j] * row[j + 1];
        }
    }
    free(factor);
}

void local_volatility(double *prices, const double *x, const double *y, const double *strike, const double *times,
                      int64_t n, int64_t m, int64_t strikes, int64_t steps)
{
    double(*wx)[3] = malloc(n * sizeof *wx), (*wy)[3] = malloc(m * sizeof *wy);
    weights(wx, x, n);
    weights(wy, y, m);
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < strikes; s++) {
        double *room = malloc(5 * n * m * sizeof(double));
        double(*a[5])[m];
        for (int q = 0; q < 5; q++)
            a[q] = (double(*)[m])(room + q * n * m);
        value(n, m, a[0], a[1], a[2], a[3], a[4], x, y, wx, wy, strike[s], times, steps);
        prices[s] = a[0][n / 2][m / 2];
        free(room);
    }
    free(wx);
    free(wy);
}
