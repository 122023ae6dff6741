#include <stdint.h>

/* Windows of `width` x `width` weights over a picture of n x m: an interior in which no index is looked at, and what is
 * left, a strip along each side. MANNER names what is done at the border, AT is the function below that does it, and
 * WIDTH is what it says. */

static inline int64_t nearest(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static inline int64_t around(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }
static inline int64_t mirrored(int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
static inline int64_t outside(int64_t i, int64_t n) { return i < 0 || i >= n ? -1 : i; }

#define FILTER(manner, at, width)                                                                                      \
    static void manner##_strip_##width(float *restrict out, const float *restrict x, const float *restrict w,          \
                                       int64_t n, int64_t m, int64_t i, int64_t from, int64_t to)                      \
    {                                                                                                                  \
        for (int64_t j = from; j < to; j++) {                                                                          \
            float s = 0;                                                                                               \
            for (int64_t p = 0; p < width; p++)                                                                        \
                for (int64_t q = 0; q < width; q++) {                                                                  \
                    int64_t r = at(i + p - width / 2, n), c = at(j + q - width / 2, m);                                \
                    s += r < 0 || c < 0 ? 0 : w[p * width + q] * x[r * m + c];                                         \
                }                                                                                                      \
            out[i * m + j] = s;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    void manner##_##width(float *restrict out, const float *restrict x, const float *restrict w, int64_t n, int64_t m) \
    {                                                                                                                  \
        const int64_t middle = width / 2;                                                                              \
        _Pragma("omp parallel for schedule(static)")                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            if (i < middle || i >= n - middle) {                                                                       \
                manner##_strip_##width(out, x, w, n, m, i, 0, m);                                                      \
                continue;                                                                                              \
            }                                                                                                          \
            manner##_strip_##width(out, x, w, n, m, i, 0, middle);                                                     \
            _Pragma("omp simd")                                                                                        \
            for (int64_t j = middle; j < m - middle; j++) {                                                            \
                const float *a = x + (i - middle) * m + j - middle;                                                    \
                float s = 0;                                                                                           \
                _Pragma("GCC unroll 15")                                                                               \
                for (int64_t p = 0; p < width; p++)                                                                    \
                    _Pragma("GCC unroll 15")                                                                           \
                    for (int64_t q = 0; q < width; q++)                                                                \
                        s += w[p * width + q] * a[p * m + q];                                                          \
                out[i * m + j] = s;                                                                                    \
            }                                                                                                          \
            manner##_strip_##width(out, x, w, n, m, i, m - middle, m);                                                 \
        }                                                                                                              \
    }

#define MADE(manner, at, width) FILTER(manner, at, width)
MADE(MANNER, AT, WIDTH)
