#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static const double SOFTENING = 0.01;

struct Bodies {
    double *pos[3], *vel[3];
    const double *mass;
};

static void advance(struct Bodies *b, double dt, int64_t n)
{
    const double *restrict x = b->pos[0], *restrict y = b->pos[1], *restrict z = b->pos[2], *restrict mass = b->mass;
#pragma omp parallel if (n > 100)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            double ax = 0.0, ay = 0.0, az = 0.0;
#pragma omp simd reduction(+ : ax, ay, az)
            for (int64_t j = 0; j < n; j++) {
                double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
                double r2 = dx * dx + dy * dy + dz * dz + SOFTENING;
                double f = mass[j] / (r2 * sqrt(r2));
                ax += f * dx;
                ay += f * dy;
                az += f * dz;
            }
            b->vel[0][i] += ax * dt;
            b->vel[1][i] += ay * dt;
            b->vel[2][i] += az * dt;
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++)
                b->pos[c][i] += b->vel[c][i] * dt;
    }
}

void nbody(double *restrict pos_out, double *restrict vel_out, const double *restrict pos, const double *restrict vel, const double *mass, double dt, int64_t steps, int64_t n)
{
    double *all = malloc(6 * n * sizeof(double));
    struct Bodies b = {{all, all + n, all + 2 * n}, {all + 3 * n, all + 4 * n, all + 5 * n}, mass};
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            b.pos[c][i] = pos[3 * i + c];
            b.vel[c][i] = vel[3 * i + c];
        }
    for (int64_t s = 0; s < steps; s++)
        advance(&b, dt, n);
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            pos_out[3 * i + c] = b.pos[c][i];
            vel_out[3 * i + c] = b.vel[c][i];
        }
    free(all);
}
