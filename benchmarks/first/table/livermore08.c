/* The eighth of the Livermore loops (McMahon, 1986): alternating directions, three coupled 100 x 5 arrays, a million rounds. */
#include <stdio.h>
#include <string.h>

#define N 100
#define M 5
#define SIG 0.1

typedef double grid[N][M];

static void next(grid v, grid u, grid u1, grid u2, grid u3, double a, double b, double c)
{
  for (int y = 1; y < N - 1; y++)
    for (int x = 1; x < M - 1; x++)
      v[y][x] = u[y][x] + a * (u1[y + 1][x] - u1[y - 1][x]) + b * (u2[y + 1][x] - u2[y - 1][x]) + c * (u3[y + 1][x] - u3[y - 1][x])
                + SIG * (u[y][x + 1] - 2.0 * u[y][x] + u[y][x - 1]);
}

int main(void)
{
  static grid u[2][3];
  for (int y = 0; y < N; y++)
    for (int x = 0; x < M; x++) {
      u[0][0][y][x] = (y * 3 + x * 7) % 10 / 10.0;
      u[0][1][y][x] = (y * 7 + x * 3) % 10 / 10.0;
      u[0][2][y][x] = (y + x) % 10 / 10.0;
    }
  memcpy(u[1], u[0], sizeof u[0]);
  for (int i = 0; i < 1000000; i++) {
    grid *from = u[i % 2], *to = u[1 - i % 2];
    next(to[0], from[0], from[0], from[1], from[2], 0.001, 0.002, -0.001);
    next(to[1], from[1], from[0], from[1], from[2], -0.002, 0.001, 0.001);
    next(to[2], from[2], from[0], from[1], from[2], 0.001, -0.001, 0.001);
  }
  printf("%.9f %.9f %.9f\n", u[0][0][50][2], u[0][1][50][2], u[0][2][98][3]);
  return 0;
}
