/* What NumPy does not have, or another library does: a matrix in compressed rows times a vector, as SciPy multiplies
   them, one row after the other; a stable sort by a comparison that the compiler sees, as std::stable_sort has it. */

#include <math.h>
#include <stdint.h>
#include <string.h>

void spmv(const int32_t *offsets, const int32_t *columns, const double *values, const double *x, double *y, int64_t n)
{
  for (int64_t r = 0; r < n; r++) {
    double total = 0.0;
    for (int32_t i = offsets[r]; i < offsets[r + 1]; i++)
      total += values[i] * x[columns[i]];
    y[r] = total;
  }
}

static inline int nearer(double a, double b) { return fabs(a) < fabs(b); }

/* n numbers by their sizes, in the place of `v`; `room` has as many. */
void sort_nearer(double *v, double *room, int64_t n)
{
  for (int64_t start = 0; start < n; start += 16)
    for (int64_t i = start + 1; i < n && i < start + 16; i++) {
      double x = v[i];
      int64_t k = i;
      for (; k > start && nearer(x, v[k - 1]); k--)
        v[k] = v[k - 1];
      v[k] = x;
    }
  double *a = v, *b = room;
  for (int64_t len = 16; len < n; len *= 2) {
    for (int64_t start = 0; start < n; start += 2 * len) {
      int64_t middle = start + len < n ? start + len : n, end = middle + len < n ? middle + len : n;
      int64_t i = start, j = middle, k = start;
      while (i < middle && j < end) {
        int second = nearer(a[j], a[i]);
        b[k++] = second ? a[j] : a[i];
        i += !second;
        j += second;
      }
      memcpy(b + k, a + i, (middle - i) * sizeof *a);
      memcpy(b + k + (middle - i), a + j, (end - j) * sizeof *a);
    }
    double *c = a;
    a = b;
    b = c;
  }
  if (a != v)
    memcpy(v, a, n * sizeof *a);
}
