// The classic kernels as one would write them by hand: what sacpy's are counted beside.

template <class T> __device__ void relax(int m, int n, const T *__restrict__ a, T *__restrict__ r)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  const T *p = a + i * n + j;
  bool border = i == 0 || j == 0 || i == m - 1 || j == n - 1;
  r[i * n + j] = border ? *p : (p[-n] + p[n] + p[-1] + p[1]) * (T)0.25;
}

// 256 threads with R x C elements each, a warp's in a box of 4 x 8 threads; strips of L, the next one on its way
// meanwhile. Extents are multiples of the tile's.
template <class T, class V, int R, int C, int L> __device__ void product(
  int m, int n, int k, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ r)
{
  constexpr int W = sizeof(V) / sizeof(T), M = 16 * R, N = 16 * C, A = M * L / W / 256, B = N * L / W / 256;
  __shared__ T x[2][L][M + 4], y[2][L][N];
  int t = threadIdx.x, I = blockIdx.y * M, J = blockIdx.x * N;
  int tx = (t & 1) | (t >> 1 & 6) | (t >> 2 & 8), ty = (t >> 1 & 1) | (t >> 3 & 2) | (t >> 4 & 12);
  T s[R][C] = {};
  V p[A], q[B];
  auto fetch = [&](int l) {
#pragma unroll
    for (int e = 0; e < A; e++) {
      int u = t + 256 * e;
      p[e] = *(const V *)&a[(I + u / 2 % M) * k + l + (u % 2 + u / (2 * M) * 2) * W];
    }
#pragma unroll
    for (int e = 0; e < B; e++) {
      int u = t + 256 * e;
      q[e] = *(const V *)&b[(l + u / (N / W)) * n + J + u % (N / W) * W];
    }
  };
  auto put = [&](int h) {
#pragma unroll
    for (int e = 0; e < A; e++) {
      int u = t + 256 * e;
#pragma unroll
      for (int w = 0; w < W; w++) x[h][(u % 2 + u / (2 * M) * 2) * W + w][u / 2 % M] = ((const T *)&p[e])[w];
    }
#pragma unroll
    for (int e = 0; e < B; e++) {
      int u = t + 256 * e;
      *(V *)&y[h][u / (N / W)][u % (N / W) * W] = q[e];
    }
  };
  fetch(0);
  put(0);
  __syncthreads();
  for (int l = 0, h = 0; l < k; l += L, h ^= 1) {
    if (l + L < k) fetch(l + L);
#pragma unroll
    for (int d = 0; d < L; d++) {
      T u[R], v[C];
      for (int i = 0; i < R; i += W) *(V *)&u[i] = *(const V *)&x[h][d][ty * W + i / W * 16 * W];
      for (int j = 0; j < C; j += W) *(V *)&v[j] = *(const V *)&y[h][d][tx * W + j / W * 16 * W];
      for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) s[i][j] += u[i] * v[j];
    }
    if (l + L < k) put(h ^ 1);
    __syncthreads();
  }
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j += W)
      *(V *)&r[(I + ty * W + i / W * 16 * W + i % W) * n + J + tx * W + j / W * 16 * W] = *(V *)&s[i][j];
}

__device__ double rounded(double x) { return x; }
__device__ float rounded(float x)
{
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __uint_as_float(r);
}
__device__ void mma(double *c, double *, const double (&a)[1][1], const double (&b)[1])
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1]) : "d"(a[0][0]), "d"(b[0]));
}
__device__ void mma(float *c, float *d, const float (&a)[2][2], const float (&b)[2])
{
  auto u = [](float x) { return __float_as_uint(x); };
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(d[0]), "+f"(d[1])
      : "r"(u(a[0][0])), "r"(u(a[1][0])), "r"(u(a[0][1])), "r"(u(a[1][1])), "r"(u(b[0])), "r"(u(b[1])));
}

// The same by tensor cores: eight warps in two rows of four. H rows and K indices of the folded axis are a thread's of an
// instruction.
template <class T, class V, int R, int C, int L, int H, int K> __device__ void multiplied(
  int m, int n, int k, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ r)
{
  constexpr int W = sizeof(V) / sizeof(T), M = 16 * R, N = 16 * C, A = M * L / W / 256, B = N * L / W / 256;
  __shared__ T x[2][L][M + 4], y[2][L][N + 4];
  int t = threadIdx.x, I = blockIdx.y * M, J = blockIdx.x * N, g = t / 4 % 8, q = t % 4;
  int down = t / 128 * 8 * R, along = t / 32 % 4 * 4 * C;
  T s[R][C] = {};
  V p[A], o[B];
  auto fetch = [&](int l) {
#pragma unroll
    for (int e = 0; e < A; e++) {
      int u = t + 256 * e;
      p[e] = *(const V *)&a[(I + u / 2 % M) * k + l + (u % 2 + u / (2 * M) * 2) * W];
    }
#pragma unroll
    for (int e = 0; e < B; e++) {
      int u = t + 256 * e;
      o[e] = *(const V *)&b[(l + u / (N / W)) * n + J + u % (N / W) * W];
    }
  };
  auto put = [&](int h) {
#pragma unroll
    for (int e = 0; e < A; e++) {
      int u = t + 256 * e;
#pragma unroll
      for (int w = 0; w < W; w++) x[h][(u % 2 + u / (2 * M) * 2) * W + w][u / 2 % M] = rounded(((const T *)&p[e])[w]);
    }
#pragma unroll
    for (int e = 0; e < B; e++) {
      int u = t + 256 * e;
      V v;
      for (int w = 0; w < W; w++) ((T *)&v)[w] = rounded(((const T *)&o[e])[w]);
      *(V *)&y[h][u / (N / W)][u % (N / W) * W] = v;
    }
  };
  fetch(0);
  put(0);
  __syncthreads();
  for (int l = 0, h = 0; l < k; l += L, h ^= 1) {
    if (l + L < k) fetch(l + L);
#pragma unroll
    for (int d = 0; d < L; d += 4 * K) {
      T u[R / H][H][K], v[C / 2][K];
      for (int i = 0; i < R; i++)
        for (int e = 0; e < K; e++) u[i / H][i % H][e] = x[h][d + q * K + e][down + i * 8 + g];
      for (int j = 0; j < C / 2; j++)
        for (int e = 0; e < K; e++) v[j][e] = y[h][d + q * K + e][along + j * 8 + g];
      for (int i = 0; i < R / H; i++)
        for (int j = 0; j < C / 2; j++) mma(&s[i * H][2 * j], &s[i * H + H - 1][2 * j], u[i], v[j]);
    }
    if (l + L < k) put(h ^ 1);
    __syncthreads();
  }
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j += 2) {
      T *to = &r[(I + down + i * 8 + g) * n + J + along + j * 4 + q * 2];
      to[0] = s[i][j], to[1] = s[i][j + 1];
    }
}

__device__ unsigned arrived;

template <class T> __device__ T of_block(T s, T *part)
{
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int k = 4; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  }
  return s;
}

template <class T, class V> __device__ void sum(int n, const V *__restrict__ x, T *r)
{
  __shared__ T part[8];
  __shared__ bool last;
  T s = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    V v = x[i];
    for (int k = 0; k < sizeof(V) / sizeof(T); k++) s += ((const T *)&v)[k];
  }
  s = of_block(s, part);
  if (!threadIdx.x) {
    r[blockIdx.x] = s;
    __threadfence();
    last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    s = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) s += r[i];
    s = of_block(s, part);
    if (!threadIdx.x) r[gridDim.x] = s;
  }
}

template <class T> __device__ void rows(int n, const T *__restrict__ x, T *r)
{
  T s = 0;
  const T *row = x + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += 32) s += row[i];
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  if (!threadIdx.x) r[blockIdx.x] = s;
}

template <class T> __device__ void transpose(int m, int n, const T *__restrict__ x, T *__restrict__ y)
{
  __shared__ T t[32][33];
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = x[(i + k) * n + j];
  __syncthreads();
  j = blockIdx.y * 32 + threadIdx.x;
  i = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(i + k) * m + j] = t[threadIdx.x][threadIdx.y + k];
}

extern "C" {
__global__ void relax_d(int m, int n, const double *a, double *r) { relax(m, n, a, r); }
__global__ void relax_f(int m, int n, const float *a, float *r) { relax(m, n, a, r); }
__global__ void __launch_bounds__(256) product_d(int m, int n, int k, const double *a, const double *b, double *r)
{
  product<double, double2, 8, 4, 8>(m, n, k, a, b, r);
}
__global__ void __launch_bounds__(256, 2) product_f(int m, int n, int k, const float *a, const float *b, float *r)
{
  product<float, float4, 8, 8, 8>(m, n, k, a, b, r);
}
__global__ void small_product_d(int m, int n, int k, const double *a, const double *b, double *r)
{
  product<double, double2, 4, 4, 8>(m, n, k, a, b, r);
}
__global__ void small_product_f(int m, int n, int k, const float *a, const float *b, float *r)
{
  product<float, float4, 4, 4, 16>(m, n, k, a, b, r);
}
__global__ void __launch_bounds__(256, 2) multiplied_d(int m, int n, int k, const double *a, const double *b, double *r)
{
  multiplied<double, double2, 8, 4, 8, 1, 1>(m, n, k, a, b, r);
}
__global__ void __launch_bounds__(256, 2) multiplied_f(int m, int n, int k, const float *a, const float *b, float *r)
{
  multiplied<float, float4, 8, 8, 8, 2, 2>(m, n, k, a, b, r);
}
__global__ void sum_d(int n, const double2 *x, double *r) { sum<double>(n, x, r); }
__global__ void sum_f(int n, const float4 *x, float *r) { sum<float>(n, x, r); }
__global__ void rows_d(int n, const double *x, double *r) { rows(n, x, r); }
// a packed lower triangle times a vector: a warp has a row, the longest rows come first
__global__ void trmv_f(int n, const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ r)
{
  int i = n - 1 - (blockIdx.x * 8 + threadIdx.x / 32), lane = threadIdx.x % 32;
  if (i < 0) return;
  const float *row = a + (size_t)i * (i + 1) / 2;
  float s = 0;
#pragma unroll 8
  for (int j = lane; j <= i; j += 32) s += row[j] * x[j];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) r[i] = s;
}
__global__ void transpose_d(int m, int n, const double *x, double *y) { transpose(m, n, x, y); }
__global__ void transpose_f(int m, int n, const float *x, float *y) { transpose(m, n, x, y); }
__global__ void bodies(int n, const double *__restrict__ p, const double *__restrict__ m, double *__restrict__ r)
{
  __shared__ double4 q[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  double a = p[3 * i], b = p[3 * i + 1], c = p[3 * i + 2], x = 0, y = 0, z = 0;
  for (int k = 0; k < n; k += 128) {
    int j = k + threadIdx.x;
    q[threadIdx.x] = make_double4(p[3 * j], p[3 * j + 1], p[3 * j + 2], m[j]);
    __syncthreads();
#pragma unroll 4
    for (int l = 0; l < 128; l++) {
      double4 o = q[l];
      double u = o.x - a, v = o.y - b, w = o.z - c, d = u * u + v * v + w * w + 0.01;
      double f = o.w / (d * sqrt(d));
      x += u * f;
      y += v * f;
      z += w * f;
    }
    __syncthreads();
  }
  r[3 * i] = x;
  r[3 * i + 1] = y;
  r[3 * i + 2] = z;
}
__global__ void map_f(int n, const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ r)
{
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float4 u = a[i], v = b[i];
    r[i] = make_float4(u.x * 2 + v.x, u.y * 2 + v.y, u.z * 2 + v.z, u.w * 2 + v.w);
  }
}
__global__ void vectors(int n, const double *__restrict__ a, double *__restrict__ r)
{
  __shared__ double t[3 * 256];
  int at = blockIdx.x * 768 + threadIdx.x;
  for (int k = 0; k < 3; k++) t[threadIdx.x + 256 * k] = a[at + 256 * k];
  __syncthreads();
  double x = t[3 * threadIdx.x], y = t[3 * threadIdx.x + 1], z = t[3 * threadIdx.x + 2], s = x * x + y * y + z * z;
  __syncthreads();
  t[3 * threadIdx.x] = x / s;
  t[3 * threadIdx.x + 1] = y / s;
  t[3 * threadIdx.x + 2] = z / s;
  __syncthreads();
  for (int k = 0; k < 3; k++) r[at + 256 * k] = t[threadIdx.x + 256 * k];
}
}
