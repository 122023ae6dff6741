// The classic kernels as one would write them by hand: what sacpy's are counted beside.

template <class T> __device__ void relax(int m, int n, const T *__restrict__ a, T *__restrict__ r)
{
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= m || j >= n) return;
  const T *p = a + i * n + j;
  bool border = i == 0 || j == 0 || i == m - 1 || j == n - 1;
  r[i * n + j] = border ? *p : (p[-n] + p[n] + p[-1] + p[1]) * (T)0.25;
}

// Tiles of 64 x 64 by 256 threads, 4 x 4 elements a thread, strips of 16.
template <class T, class V> __device__ void product(
  int m, int n, int k, const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ r)
{
  __shared__ T x[16][64 + 4], y[16][64];
  constexpr int W = sizeof(V) / sizeof(T);
  int t = threadIdx.x, tx = t % 16, ty = t / 16, I = blockIdx.y * 64, J = blockIdx.x * 64;
  T s[4][4] = {};
  for (int l0 = 0; l0 < k; l0 += 16) {
#pragma unroll
    for (int q = t; q < 64 * 16 / W; q += 256) {
      int c = q % (16 / W), row = q / (16 / W);
      V u = *(const V *)&a[(I + row) * k + l0 + c * W];
      for (int e = 0; e < W; e++) x[c * W + e][row] = ((const T *)&u)[e];
    }
#pragma unroll
    for (int q = t; q < 64 * 16 / W; q += 256)
      *(V *)&y[q / (64 / W)][q % (64 / W) * W] = *(const V *)&b[(l0 + q / (64 / W)) * n + J + q % (64 / W) * W];
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 16; l++) {
      T u[4], v[4];
      for (int p = 0; p < 4; p += W) *(V *)&u[p] = *(const V *)&x[l][ty * 4 + p];
      for (int p = 0; p < 4; p += W) *(V *)&v[p] = *(const V *)&y[l][tx * W + p / W * 16 * W];
      for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) s[p][q] += u[p] * v[q];
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 4; q += W)
      *(V *)&r[(I + ty * 4 + p) * n + J + tx * W + q / W * 16 * W] = *(V *)&s[p][q];
}

template <class T, class V> __device__ void sum(int n, const V *__restrict__ x, T *r)
{
  __shared__ T part[8];
  T s = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    V v = x[i];
    for (int k = 0; k < sizeof(V) / sizeof(T); k++) s += ((const T *)&v)[k];
  }
  for (int k = 16; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    for (int k = 4; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k);
    if (!threadIdx.x) r[blockIdx.x] = s;
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
__global__ void product_d(int m, int n, int k, const double *a, const double *b, double *r)
{
  product<double, double2>(m, n, k, a, b, r);
}
__global__ void product_f(int m, int n, int k, const float *a, const float *b, float *r)
{
  product<float, float4>(m, n, k, a, b, r);
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
