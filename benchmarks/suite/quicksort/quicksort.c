#include <stdint.h>
#include <string.h>

static void sort(int32_t *v, int64_t lo, int64_t hi)
{
    while (lo < hi) {
        int32_t pivot = v[lo + (hi - lo) / 2];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                int32_t t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        sort(v, lo, j);
        lo = i;
    }
}

void quicksort(int32_t *restrict v, const int32_t *restrict given, int64_t n)
{
    memcpy(v, given, n * sizeof(int32_t));
    sort(v, 0, n - 1);
}
