from numba import njit


# without its type, a recursive function read back from the cache crashes
@njit("void(int32[::1], int64, int64)", cache=True)
def sort(v, lo, hi):
    if lo < hi:
        pivot = v[lo + (hi - lo) // 2]
        i, j = lo, hi
        while i <= j:
            while v[i] < pivot:
                i += 1
            while v[j] > pivot:
                j -= 1
            if i <= j:
                v[i], v[j] = v[j], v[i]
                i += 1
                j -= 1
        sort(v, lo, j)
        sort(v, i, hi)


@njit(cache=True)
def run(v):
    v = v.copy()
    sort(v, 0, len(v) - 1)
    return v
