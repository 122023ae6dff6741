#include <stdbool.h>
#include <stdint.h>

#define TAU 0.9
#define FORCE 1e-3

static const int dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const double weight[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
static const int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};

/* What arrives at a point, of which all neighbours and those of the points before are known, is written there: rows of
   the result are made from rows that stand still. */
static inline void point(double *restrict out[9], const double *restrict in[9], bool wall, int64_t j, const int64_t to[9])
{
    double f[9], rho = 0.0;
    for (int k = 0; k < 9; k++)
        rho += f[k] = in[k][j];
    double down = f[2] - f[4] + f[5] + f[6] - f[7] - f[8], right = f[1] - f[3] + f[5] - f[6] - f[7] + f[8];
    double energy = (down * down + right * right) / (rho * rho);
    for (int k = 0; k < 9; k++) {
        double along = (dy[k] * down + dx[k] * right) / rho;
        double rest = weight[k] * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * energy);
        double moved = f[k] + (rest - f[k]) / TAU + 3.0 * FORCE * weight[k] * dx[k];
        out[k][to[k]] = wall ? f[opposite[k]] : moved;
    }
}

static void step(int64_t n, int64_t m, double *restrict v, const double *restrict f, const bool *restrict wall)
{
#pragma omp parallel for schedule(static) if (n * m > 2000)
    for (int64_t i = 0; i < n; i++) {
        double *restrict out[9];
        const double *restrict in[9];
        for (int k = 0; k < 9; k++) {
            in[k] = f + (k * n + i) * m;
            out[k] = v + (k * n + (i + dy[k] + n) % n) * m;
        }
        for (int64_t j = 0; j < m; j += j == 0 && m > 2 ? m - 1 : 1) {
            int64_t to[9];
            for (int k = 0; k < 9; k++)
                to[k] = (j + dx[k] + m) % m;
            point(out, in, wall[i * m + j], j, to);
        }
#pragma omp simd
        for (int64_t j = 1; j < m - 1; j++) {
            int64_t to[9];
            for (int k = 0; k < 9; k++)
                to[k] = j + dx[k];
            point(out, in, wall[i * m + j], j, to);
        }
    }
}

/* After an odd number of steps the result is in v, else in w; the caller takes it from there. */
void lattice_boltzmann(double *v, double *w, const double *f, const bool *wall, int64_t steps, int64_t n, int64_t m)
{
    for (int64_t s = 0; s < steps; s++)
        step(n, m, s % 2 == 0 ? v : w, s == 0 ? f : s % 2 == 0 ? w : v, wall);
}
