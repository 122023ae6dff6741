#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double x, y; } point;

static inline double area(point a, point b, point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static inline void swap(point *p, int64_t i, int64_t j)
{
    point t = p[i];
    p[i] = p[j];
    p[j] = t;
}

static int64_t partition(point *p, int64_t lo, int64_t hi, point a, point b)
{
    int64_t end = lo;
    for (int64_t i = lo; i < hi; i++)
        if (area(a, b, p[i]) > 0.0)
            swap(p, i, end++);
    return end;
}

static point *between(point *restrict p, point *restrict hull, int64_t lo, int64_t hi, point a, point b)
{
    if (lo >= hi)
        return hull;
    int64_t far = lo;
    double best = area(a, b, p[lo]);
    for (int64_t i = lo + 1; i < hi; i++) {
        double here = area(a, b, p[i]);
        if (here > best) {
            best = here;
            far = i;
        }
    }
    point c = p[far];
    swap(p, lo, far);
    int64_t first = partition(p, lo + 1, hi, a, c), second = partition(p, first, hi, c, b);
    hull = between(p, hull, lo + 1, first, a, c);
    *hull++ = c;
    return between(p, hull, first, second, c, b);
}

void quickhull(double *corners, int64_t *count, const double *points, int64_t n)
{
    point *p = malloc(n * sizeof(point)), *hull = (point *)corners;
    memcpy(p, points, n * sizeof(point));
    point a = p[0], b = p[0];
    for (int64_t i = 1; i < n; i++) {
        if (p[i].x < a.x)
            a = p[i];
        if (p[i].x > b.x)
            b = p[i];
    }
    int64_t above = partition(p, 0, n, a, b), below = partition(p, above, n, b, a);
    *hull++ = a;
    hull = between(p, hull, 0, above, a, b);
    *hull++ = b;
    hull = between(p, hull, above, below, b, a);
    *count = hull - (point *)corners;
    free(p);
}
