"""Mutual recursion: Hofstadter's female and male sequences."""


def female(n: int) -> int:
    return 1 if n == 0 else n - male(female(n - 1))


def male(n: int) -> int:
    return 0 if n == 0 else n - female(male(n - 1))


for n in range(0, 100, 9):
    print(f"{n}: {female(n)} {male(n)}")
