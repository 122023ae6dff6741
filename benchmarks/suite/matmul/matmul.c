#include <stdint.h>
#include <stdlib.h>

enum { ROWS = 4, COLUMNS = 16, DEPTH = 256 };

/* c[0..rows) += a * panel, where the panel holds COLUMNS columns of b side by side. */
static void tile(double *restrict c, int64_t ldc, const double *restrict a, int64_t lda, const double *restrict panel, int64_t depth, int64_t columns)
{
    double s[ROWS][COLUMNS] = {0};
    for (int64_t k = 0; k < depth; k++)
        for (int r = 0; r < ROWS; r++)
#pragma omp simd
            for (int j = 0; j < COLUMNS; j++)
                s[r][j] += a[r * lda + k] * panel[k * COLUMNS + j];
    for (int r = 0; r < ROWS; r++)
        for (int j = 0; j < columns; j++)
            c[r * ldc + j] += s[r][j];
}

static void strip(double *restrict c, int64_t ldc, const double *restrict a, int64_t lda, const double *restrict panel, int64_t depth, int64_t columns, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < depth; k++)
            for (int64_t j = 0; j < columns; j++)
                c[r * ldc + j] += a[r * lda + k] * panel[k * COLUMNS + j];
}

/* c = a * b, for c of n x m and a of n x depth. */
void matmul(double *restrict c, const double *restrict a, const double *restrict b, int64_t n, int64_t depth, int64_t m)
{
#pragma omp parallel if (n * m * depth > 50000)
    {
        double *panel = aligned_alloc(64, sizeof(double) * DEPTH * COLUMNS);
#pragma omp for schedule(dynamic)
        for (int64_t j = 0; j < m; j += COLUMNS) {
            int64_t columns = m - j < COLUMNS ? m - j : COLUMNS;
            for (int64_t i = 0; i < n; i++)
                for (int64_t x = 0; x < columns; x++)
                    c[i * m + j + x] = 0.0;
            for (int64_t k = 0; k < depth; k += DEPTH) {
                int64_t deep = depth - k < DEPTH ? depth - k : DEPTH;
                for (int64_t y = 0; y < deep; y++)
                    for (int64_t x = 0; x < COLUMNS; x++)
                        panel[y * COLUMNS + x] = x < columns ? b[(k + y) * m + j + x] : 0.0;
                int64_t i = 0;
                for (; i + ROWS <= n; i += ROWS)
                    tile(c + i * m + j, m, a + i * depth + k, depth, panel, deep, columns);
                strip(c + i * m + j, m, a + i * depth + k, depth, panel, deep, columns, n - i);
            }
        }
        free(panel);
    }
}
