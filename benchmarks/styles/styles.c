#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The computations of `styles.sac` as loops: what each gives goes to `out`; extents come last. */

void halved_grids(double *restrict out, const double *restrict u, int64_t n, int64_t m)
{
    memcpy(out, u, n * m * sizeof(double));
    for (int64_t i = 0; i < n / 2; i++)
        for (int64_t j = 0; j < m / 2; j++) {
            const double *a = u + 2 * i * m + 2 * j;
            double c = 0.25 * (a[0] + a[m] + a[1] + a[m + 1]);
            double *o = out + 2 * i * m + 2 * j;
            o[0] = a[0] - c;
            o[1] = a[1] - c;
            o[m] = a[m] - c;
            o[m + 1] = a[m + 1] - c;
        }
}

void prolongation_by_axes(double *restrict out, const double *restrict c, int64_t n, int64_t m)
{
    const int64_t w = 2 * m - 1;
    for (int64_t i = 0; i < n; i++) {
        double *row = out + 2 * i * w;
        for (int64_t j = 0; j < m - 1; j++) {
            row[2 * j] = c[i * m + j];
            row[2 * j + 1] = 0.5 * (c[i * m + j] + c[i * m + j + 1]);
        }
        row[w - 1] = c[i * m + m - 1];
    }
    for (int64_t i = 1; i < 2 * n - 1; i += 2)
        for (int64_t j = 0; j < w; j++)
            out[i * w + j] = 0.5 * (out[(i - 1) * w + j] + out[(i + 1) * w + j]);
}

static void redblack(double *restrict out, const double *restrict u, int64_t n, int64_t m)
{
    memcpy(out, u, n * m * sizeof(double));
    for (int64_t colour = 0; colour < 2; colour++)
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1 + (i + 1 + colour) % 2; j < m - 1; j += 2) {
                double *o = out + i * m + j;
                o[0] = 0.25 * (o[-m] + o[m] + o[-1] + o[1]);
            }
}

void redblack_by_masks(double *out, const double *u, int64_t n, int64_t m) { redblack(out, u, n, m); }

void redblack_by_rows(double *out, const double *u, int64_t n, int64_t m) { redblack(out, u, n, m); }

void points27_by_distance(double *restrict out, const double *restrict u, const double *restrict w, int64_t n,
                          int64_t m, int64_t l)
{
    memcpy(out, u, n * m * l * sizeof(double));
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++) {
            const double *a = u + (i * m + j) * l;
            double *o = out + (i * m + j) * l;
            for (int64_t k = 1; k < l - 1; k++) {
                double s[4] = {0, 0, 0, 0};
#pragma GCC unroll 3
                for (int p = -1; p <= 1; p++)
#pragma GCC unroll 3
                    for (int q = -1; q <= 1; q++)
#pragma GCC unroll 3
                        for (int r = -1; r <= 1; r++)
                            s[(p != 0) + (q != 0) + (r != 0)] += a[(p * m + q) * l + k + r];
                o[k] = w[0] * s[0] + w[1] * s[1] + w[2] * s[2] + w[3] * s[3];
            }
        }
}

static void cells(double *restrict out, const double *restrict u, int64_t n, int64_t m, const int64_t c)
{
    memcpy(out, u, n * m * c * sizeof(double));
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t k = c; k < (m - 1) * c; k++) {
            const double *a = u + i * m * c + k;
            out[i * m * c + k] = a[0] + 0.1 * (a[m * c] - 2.0 * a[0] + a[-m * c]) + 0.2 * (a[c] - a[-c]);
        }
}

void cells_of_3(double *out, const double *u, int64_t n, int64_t m, int64_t c) { (void)c; cells(out, u, n, m, 3); }

void cells_of_16(double *out, const double *u, int64_t n, int64_t m, int64_t c) { (void)c; cells(out, u, n, m, 16); }

void pulls(double *restrict out, const double *restrict p, const double *restrict mass, int64_t n, int64_t three)
{
    (void)three;
    for (int64_t i = 0; i < n; i++) {
        double x = 0, y = 0, z = 0;
        for (int64_t j = 0; j < n; j++) {
            double dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1], dz = p[3 * j + 2] - p[3 * i + 2];
            double r = dx * dx + dy * dy + dz * dz + 0.01, f = mass[j] / (r * sqrt(r));
            x += f * dx;
            y += f * dy;
            z += f * dz;
        }
        out[3 * i] = x;
        out[3 * i + 1] = y;
        out[3 * i + 2] = z;
    }
}

void gradient_by_padding(double *restrict out, const double *restrict g, const double *restrict w, int64_t n, int64_t m)
{
    const int64_t h = m + 4, b = m + 8;
    double *padded = calloc((n + 8) * b, sizeof(double));
    for (int64_t i = 0; i < n; i++)
        memcpy(padded + (i + 4) * b + 4, g + i * m, m * sizeof(double));
    for (int64_t i = 0; i < n + 4; i++)
        for (int64_t j = 0; j < h; j++) {
            double s = 0;
#pragma GCC unroll 5
            for (int64_t p = 0; p < 5; p++)
#pragma GCC unroll 5
                for (int64_t q = 0; q < 5; q++)
                    s += w[(4 - p) * 5 + 4 - q] * padded[(i + p) * b + j + q];
            out[i * h + j] = s;
        }
    free(padded);
}

void lattice_by_planes(double *restrict out, const double *restrict f, int64_t five, int64_t n, int64_t m)
{
    (void)five;
    const int64_t s = n * m;
    for (int64_t i = 0; i < n; i++) {
        const int64_t up = i == 0 ? n - 1 : i - 1, down = i == n - 1 ? 0 : i + 1;
        for (int64_t j = 0; j < m; j++) {
            const double *a = f + i * m + j;
            double rho = a[0] + a[s] + a[2 * s] + a[3 * s] + a[4 * s];
            double x = (a[s] - a[2 * s]) / rho, y = (a[3 * s] - a[4 * s]) / rho;
            out[i * m + j] = a[0] + 0.8 * (rho / 3.0 - a[0]);
            out[s + i * m + (j == m - 1 ? 0 : j + 1)] = a[s] + 0.8 * (rho / 6.0 * (1.0 + 3.0 * x) - a[s]);
            out[2 * s + i * m + (j == 0 ? m - 1 : j - 1)] = a[2 * s] + 0.8 * (rho / 6.0 * (1.0 - 3.0 * x) - a[2 * s]);
            out[3 * s + down * m + j] = a[3 * s] + 0.8 * (rho / 6.0 * (1.0 + 3.0 * y) - a[3 * s]);
            out[4 * s + up * m + j] = a[4 * s] + 0.8 * (rho / 6.0 * (1.0 - 3.0 * y) - a[4 * s]);
        }
    }
}

void lattice_by_cells(double *restrict out, const double *restrict f, int64_t n, int64_t m, int64_t five)
{
    const int64_t bytes = n * m * five * sizeof(double);
    double *restrict other = malloc(bytes), *from = other, *to = out;
    memcpy(other, f, bytes);
    for (int t = 0; t < 20; t++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t up = i == 0 ? n - 1 : i - 1, down = i == n - 1 ? 0 : i + 1;
            for (int64_t j = 0; j < m; j++) {
                const int64_t left = j == 0 ? m - 1 : j - 1, right = j == m - 1 ? 0 : j + 1;
                const double *a = from + (i * m + j) * 5;
                double rho = a[0] + a[1] + a[2] + a[3] + a[4];
                double x = (a[1] - a[2]) / rho, y = (a[3] - a[4]) / rho;
                to[(i * m + j) * 5] = a[0] + 0.8 * (rho / 3.0 - a[0]);
                to[(i * m + right) * 5 + 1] = a[1] + 0.8 * (rho / 6.0 * (1.0 + 3.0 * x) - a[1]);
                to[(i * m + left) * 5 + 2] = a[2] + 0.8 * (rho / 6.0 * (1.0 - 3.0 * x) - a[2]);
                to[(down * m + j) * 5 + 3] = a[3] + 0.8 * (rho / 6.0 * (1.0 + 3.0 * y) - a[3]);
                to[(up * m + j) * 5 + 4] = a[4] + 0.8 * (rho / 6.0 * (1.0 - 3.0 * y) - a[4]);
            }
        }
        double *last = from;
        from = to;
        to = last;
    }
    if (from != out)
        memcpy(out, from, bytes);
    free(other);
}

void reaction_and_diffusion(double *restrict out, const double *restrict u, int64_t n, int64_t m)
{
    double *restrict r = malloc(n * m * sizeof(double));
    for (int t = 0; t < 20; t++) {
        const double *from = t == 0 ? u : out;
        for (int64_t i = 0; i < n * m; i++)
            r[i] = from[i] + 0.1 * (from[i] - from[i] * from[i] * from[i]) / (1.0 + from[i] * from[i]);
        for (int64_t i = 0; i < n; i++) {
            const double *a = r + i * m, *up = r + (i == 0 ? n - 1 : i - 1) * m, *down = r + (i == n - 1 ? 0 : i + 1) * m;
            double *o = out + i * m;
            o[0] = 0.8 * a[0] + 0.05 * (a[m - 1] + a[1] + up[0] + down[0]);
            for (int64_t j = 1; j < m - 1; j++)
                o[j] = 0.8 * a[j] + 0.05 * (a[j - 1] + a[j + 1] + up[j] + down[j]);
            o[m - 1] = 0.8 * a[m - 1] + 0.05 * (a[m - 2] + a[0] + up[m - 1] + down[m - 1]);
        }
    }
    free(r);
}

void halo_copies(double *restrict out, const double *restrict u, int64_t n, int64_t m)
{
    for (int64_t i = 0; i < n; i++) {
        const double *a = u + i * m, *up = u + (i == 0 ? n - 1 : i - 1) * m, *down = u + (i == n - 1 ? 0 : i + 1) * m;
        double *o = out + i * m;
        o[0] = 0.5 * a[0] + 0.125 * (up[0] + down[0] + a[m - 1] + a[1]);
        for (int64_t j = 1; j < m - 1; j++)
            o[j] = 0.5 * a[j] + 0.125 * (up[j] + down[j] + a[j - 1] + a[j + 1]);
        o[m - 1] = 0.5 * a[m - 1] + 0.125 * (up[m - 1] + down[m - 1] + a[m - 2] + a[0]);
    }
}

static void merge_sorted(int32_t *v, int32_t *other, int64_t n)
{
    if (n < 2)
        return;
    const int64_t h = n / 2;
    merge_sorted(v, other, h);
    merge_sorted(v + h, other + h, n - h);
    for (int64_t i = 0, j = h, k = 0; k < n; k++)
        other[k] = j >= n || (i < h && v[i] <= v[j]) ? v[i++] : v[j++];
    memcpy(v, other, n * sizeof(int32_t));
}

void merge_sort(int32_t *out, const int32_t *v, int64_t n)
{
    int32_t *other = malloc(n * sizeof(int32_t));
    memcpy(out, v, n * sizeof(int32_t));
    merge_sorted(out, other, n);
    free(other);
}

static void lomuto_sorted(int32_t *v, int64_t lo, int64_t hi)
{
    if (lo >= hi)
        return;
    int32_t pivot = v[hi];
    int64_t at = lo;
    for (int64_t k = lo; k < hi; k++)
        if (v[k] < pivot) {
            int32_t t = v[at];
            v[at++] = v[k];
            v[k] = t;
        }
    v[hi] = v[at];
    v[at] = pivot;
    lomuto_sorted(v, lo, at - 1);
    lomuto_sorted(v, at + 1, hi);
}

void lomuto(int32_t *out, const int32_t *v, int64_t n)
{
    memcpy(out, v, n * sizeof(int32_t));
    lomuto_sorted(out, 0, n - 1);
}

void windows_in_3(double *restrict out, const double *restrict u, int64_t n, int64_t m, int64_t l)
{
    for (int64_t i = 0; i < n - 2; i++)
        for (int64_t j = 0; j < m - 2; j++)
            for (int64_t k = 0; k < l - 2; k++) {
                double s = 0;
#pragma GCC unroll 3
                for (int p = 0; p < 3; p++)
#pragma GCC unroll 3
                    for (int q = 0; q < 3; q++)
#pragma GCC unroll 3
                        for (int r = 0; r < 3; r++)
                            s += u[((i + p) * m + j + q) * l + k + r];
                out[(i * (m - 2) + j) * (l - 2) + k] = s;
            }
}

void windows_in_4(double *restrict out, const double *restrict u, int64_t n, int64_t m, int64_t l, int64_t o)
{
    for (int64_t h = 0; h < n - 1; h++)
        for (int64_t i = 0; i < m - 1; i++)
            for (int64_t j = 0; j < l - 1; j++)
                for (int64_t k = 0; k < o - 1; k++) {
                    double s = 0;
#pragma GCC unroll 16
                    for (int p = 0; p < 16; p++)
                        s += u[(((h + (p >> 3)) * m + i + (p >> 2 & 1)) * l + j + (p >> 1 & 1)) * o + k + (p & 1)];
                    out[((h * (m - 1) + i) * (l - 1) + j) * (o - 1) + k] = s;
                }
}

void mandelbrot_by_arrays(int32_t *restrict out, const double *restrict x, const double *restrict y, int64_t steps,
                          int64_t n, int64_t m)
{
    double *re = malloc(n * m * sizeof(double)), *im = malloc(n * m * sizeof(double));
    memcpy(re, x, n * m * sizeof(double));
    memcpy(im, y, n * m * sizeof(double));
    memset(out, 0, n * m * sizeof(int32_t));
    for (int64_t s = 0; s < steps; s++)
        for (int64_t k = 0; k < n * m; k++) {
            int inside = re[k] * re[k] + im[k] * im[k] <= 4.0;
            double a = re[k] * re[k] - im[k] * im[k] + x[k], b = 2.0 * re[k] * im[k] + y[k];
            re[k] = inside ? a : re[k];
            im[k] = inside ? b : im[k];
            out[k] += inside;
        }
    free(re);
    free(im);
}

void shortest_paths(double *restrict out, const double *restrict d, int64_t m, int64_t n)
{
    memcpy(out, d, m * n * sizeof(double));
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            double through = out[i * n + k];
            for (int64_t j = 0; j < n; j++) {
                double x = through + out[k * n + j];
                out[i * n + j] = x < out[i * n + j] ? x : out[i * n + j];
            }
        }
}

void closure(uint8_t *restrict out, const uint8_t *restrict a, int64_t m, int64_t n)
{
    memcpy(out, a, m * n);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            uint8_t through = out[i * n + k];
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] |= through & out[k * n + j];
        }
}

void elimination(double *restrict out, const double *restrict a, int64_t m, int64_t n)
{
    memcpy(out, a, m * n * sizeof(double));
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k + 1; i < n; i++) {
            double f = out[i * n + k] / out[k * n + k];
            for (int64_t j = k + 1; j < n; j++)
                out[i * n + j] -= f * out[k * n + j];
        }
}

void exchanged_rows(double *restrict out, const double *restrict a, int64_t n, int64_t m)
{
    memcpy(out, a, n * m * sizeof(double));
    for (int64_t k = 0; k < n; k++) {
        double pivot = out[k * m + k];
        for (int64_t j = 0; j < m; j++)
            out[k * m + j] /= pivot;
        for (int64_t i = 0; i < n; i++) {
            double f = out[i * m + k];
            if (i != k)
                for (int64_t j = 0; j < m; j++)
                    out[i * m + j] -= f * out[k * m + j];
        }
    }
}

void clusters(double *restrict out, const double *restrict centres, const double *restrict points, int64_t k, int64_t d)
{
    const int64_t n = 4096;
    double *count = calloc(k, sizeof(double));
    memset(out, 0, k * d * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        int64_t best = 0;
        double least = 1e300;
        for (int64_t q = 0; q < k; q++) {
            double far = 0;
            for (int64_t j = 0; j < d; j++) {
                double x = points[i * d + j] - centres[q * d + j];
                far += x * x;
            }
            if (far < least) {
                least = far;
                best = q;
            }
        }
        count[best]++;
        for (int64_t j = 0; j < d; j++)
            out[best * d + j] += points[i * d + j];
    }
    for (int64_t q = 0; q < k; q++)
        for (int64_t j = 0; j < d; j++)
            out[q * d + j] /= count[q] > 1 ? count[q] : 1;
    free(count);
}

void standard_columns(double *restrict out, const double *restrict a, int64_t m, int64_t n)
{
    double *mean = calloc(2 * n, sizeof(double)), *deviation = mean + n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            mean[j] += a[i * n + j];
            deviation[j] += a[i * n + j] * a[i * n + j];
        }
    for (int64_t j = 0; j < n; j++) {
        mean[j] /= m;
        deviation[j] = sqrt(deviation[j] / m - mean[j] * mean[j]);
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            out[i * n + j] = (a[i * n + j] - mean[j]) / deviation[j];
    free(mean);
}

void moving_means(double *restrict out, const double *restrict x, int64_t r, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i - r < 0 ? 0 : i - r, last = i + r + 1 > n ? n : i + r + 1;
        double sum = 0;
        for (int64_t j = first; j < last; j++)
            sum += x[j];
        out[i] = sum / (last - first);
    }
}

void towards_mean(double *restrict out, const double *restrict x, const double *restrict values, int64_t steps,
                  int64_t n)
{
    double mean = 0;
    for (int64_t i = 0; i < n; i++)
        mean += values[i];
    mean /= n;
    memcpy(out, x, n * sizeof(double));
    for (int64_t s = 0; s < steps; s++)
        for (int64_t i = 0; i < n; i++)
            out[i] += 0.1 * (mean - out[i]);
}

void drawdowns(double *restrict out, const double *restrict x, int64_t n)
{
    double best = -DBL_MAX, sum = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        sum += x[i];
        out[i] = sum / (n - i);
    }
    for (int64_t i = 0; i < n; i++) {
        best = x[i] > best ? x[i] : best;
        out[i] += best - x[i];
    }
}

void sparse_product(double *restrict out, const double *restrict x, const double *restrict entries,
                    const int32_t *restrict columns, const int32_t *restrict rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t p = rows[i]; p < rows[i + 1]; p++)
            sum += entries[p] * x[columns[p]];
        out[i] = sum;
    }
}

void group_means(double *restrict out, const double *restrict x, const int32_t *restrict group, int64_t b, int64_t n)
{
    int64_t *count = calloc(b, sizeof(int64_t));
    memset(out, 0, b * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        if (group[i] >= 0 && group[i] < b) {
            out[group[i]] += x[i];
            count[group[i]]++;
        }
    for (int64_t k = 0; k < b; k++)
        out[k] /= count[k] > 1 ? count[k] : 1;
    free(count);
}
