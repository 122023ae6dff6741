"""The towers of Hanoi: the number of moves, and a digest of which disc moves where."""


def hanoi(n: int, source: int, target: int, digest: int) -> tuple[int, int]:
    if n == 0:
        return 0, digest
    before, digest = hanoi(n - 1, source, 6 - source - target, digest)
    digest = (digest * 31 + 7 * n + 3 * source + target) % 65521
    after, digest = hanoi(n - 1, 6 - source - target, target, digest)
    return before + 1 + after, digest


print(*hanoi(20, 1, 3, 1))
