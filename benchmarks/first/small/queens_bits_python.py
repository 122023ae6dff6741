"""Recursion from within a loop: n queens, what is attacked kept in bits."""


def place(all_rows: int, rows: int, left: int, right: int) -> int:
    if rows == all_rows:
        return 1
    count = 0
    free = all_rows & ~(rows | left | right)
    while free:
        bit = free & -free
        free -= bit
        count += place(all_rows, rows | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


print(place(255, 0, 0, 0))
print(place(511, 0, 0, 0))
