// Kernels whose results are known, to validate the interpreter of PTX with what nvcc makes of them; those whose names
// begin with f_ have faults, which it must find.
#include <cstdint>
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" {
__global__ void saxpy(int n, float a, const float *x, float *y) { int i = I; if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void vec4(const float4 *x, float4 *y, const double2 *u, double2 *v) { int i = I; float4 t = x[i];
  y[i] = make_float4(t.w, t.z, t.y, t.x); v[i] = make_double2(u[i].y, u[i].x); }
__global__ void blocksum(int n, const double *x, double *r) {
  __shared__ double part[8]; int i = I; double s = i < n ? x[i] : 0;
  for (int k = 16; k; k >>= 1) s += __shfl_down_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) { s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
  for (int k = 4; k; k >>= 1) s += __shfl_xor_sync(~0u, s, k); if (!threadIdx.x) r[blockIdx.x] = s; } }
__global__ void shfls(const int *x, int *r) { int t = threadIdx.x, v = x[t];
  r[t] = __shfl_sync(~0u, v, (t * 7) % 32); r[64 + t] = __shfl_up_sync(~0u, v, 3);
  r[128 + t] = __shfl_down_sync(~0u, v, 5, 8); r[192 + t] = __shfl_xor_sync(~0u, v, 6, 16);
  r[256 + t] = __shfl_sync(~0u, v, 3, 8); }
__global__ void votes(const int *x, unsigned *r) { int t = threadIdx.x; unsigned b = __ballot_sync(~0u, x[t] > 0);
  r[t] = b; r[64 + t] = __popc(b & ((1u << (t % 32)) - 1));
  r[128 + t] = __any_sync(~0u, x[t] > 90) + 2 * __all_sync(~0u, x[t] > -200);
  if (x[t] > 0) r[192 + t] = __activemask(); r[256 + t] = __reduce_add_sync(~0u, x[t]);
  r[320 + t] = __reduce_max_sync(~0u, (unsigned)x[t]); }
__global__ void histogram(int n, const unsigned char *x, int *r, unsigned long long *m) {
  __shared__ int h[16]; if (threadIdx.x < 16) h[threadIdx.x] = 0; __syncthreads();
  int i = I; if (i < n) { atomicAdd(&h[x[i] & 15], 1); atomicMax(m, (unsigned long long)x[i] * i);
  } __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&r[threadIdx.x], h[threadIdx.x]); }
__global__ void atomics(int *r, float *f, const float *x) { int i = I; atomicMin(r, 100 - i);
  atomicOr(r + 1, 1 << (i % 31)); atomicXor(r + 2, i); atomicExch(r + 3, 7); atomicCAS(r + 4, 0, 5);
  atomicInc((unsigned*)r + 5, 9); atomicAdd(f, x[i]);
  int *p = (int*)(f + 1), old = *p, seen; do { seen = old;
  old = atomicCAS(p, seen, __float_as_int(fmaxf(__int_as_float(seen), x[i]))); } while (old != seen); }
__global__ void ints(const int *a, const int *b, const long long *c, const long long *d, long long *r) {
  int i = I, n = gridDim.x * blockDim.x; int x = a[i], y = b[i]; long long u = c[i], v = d[i];
  unsigned ux = x, uy = y; unsigned long long uu = u, uv = v;
  int k = 0;
#define R(e) r[(k++) * n + i] = (long long)(e)
  R(x / y); R(x % y); R(ux / uy); R(ux % uy); R(u / v); R(u % v); R(uu / uv); R(uu % uv); R(__mulhi(x, y));
  R(__umulhi(ux, uy)); R(__mul64hi(u, v)); R(__umul64hi(uu, uv));
  R(__clz(x)); R(__clzll(u)); R(__popc(x)); R(__popcll(u)); R(__brev(x)); R(__brevll(u)); R(__ffs(x));
  R(__byte_perm(x, y, (unsigned)u & 0xffff)); R(__funnelshift_l(x, y, (unsigned)v));
  R(__funnelshift_rc(x, y, (unsigned)v & 63)); R(__sad(x, y, 5)); R(__mul24(x, y)); R((short)x * (short)y);
  R((signed char)x / (signed char)(y | 1)); R(x << (v & 31)); R(u >> (v & 63)); R(ux >> (v & 31)); R(min(x, y));
  R(max(uu, uv)); R(abs(x | 1)); R((x ^ y) & ~x | 77); R((short)(x >> 3)); R((unsigned char)(x >> 5)); R(x < 0 ? u : v);
  unsigned __int128 w = (unsigned __int128)uu * uv + uu; R((unsigned long long)(w >> 64));
  R((unsigned long long)(w - uv)); __int128 sw = (__int128)u * v - x; R((long long)(sw >> 70)); }
__global__ void convert(const double *x, long long *r) { int i = I, n = gridDim.x * blockDim.x, k = 0;
  double d = x[i]; float f = (float)d;
  R(__double2int_rn(d)); R(__double2int_rz(d)); R(__double2int_ru(d)); R(__double2int_rd(d));
  R(__double2uint_rz(d)); R(__double2ll_rn(d)); R(__double2ull_rz(d)); R(__float2int_rn(f)); R(__float2uint_ru(f));
  R(__float2ll_rd(f)); R(__float_as_int(__double2float_ru(d))); R(__float_as_int(__double2float_rz(d)));
  R(__float_as_int(f)); R((signed char)(int)f); R(__double_as_longlong(rint(d)));
  R(__double_as_longlong(floor(d))); R(__double_as_longlong(trunc(d))); R(__float_as_int(ceilf(f)));
  R(__float_as_int(__ll2float_rz(__double2ll_rn(d * 1e10))));
  R(__double_as_longlong(__ll2double_ru(__double2ll_rn(d * 1e10)))); R(__float_as_int(__saturatef(f)));
  R(__float_as_int(__uint2float_rn(__double2uint_rz(d)))); R(isnan(d) + 2 * isinf(d) + 4 * signbit(d));
  R(__float_as_int(roundf(f))); }
__global__ void reals(const double *x, const double *y, const double *z, double *r) {
  int i = I, n = gridDim.x * blockDim.x, k = 0; double a = x[i], b = y[i], c = z[i]; float p = a, q = b, s = c;
#define D(e) r[(k++) * n + i] = (double)(e)
  D(fma(a, b, c)); D(__dadd_rz(a, b)); D(__dmul_ru(a, b)); D(__ddiv_rd(a, b)); D(__fma_rd(a, b, c));
  D(__dsqrt_rn(fabs(a))); D(__drcp_rn(a)); D(fmin(a, b)); D(fmax(a, b)); D(copysign(a, b)); D(a < b); D(!(a < b));
  D(a != b); D(a / b); D(fmod(a, b)); D(remainder(a, b));
  D(fmaf(p, q, s)); D(__fadd_ru(p, q)); D(__fmul_rd(p, q)); D(__fdiv_rn(p, q)); D(__fsqrt_rn(fabsf(p)));
  D(__fmaf_rz(p, q, s)); D(fminf(p, q)); D(fmaxf(p, q)); D(p < q); D(p == q); D(fmodf(p, q)); }
__global__ void maths(const double *x, double *r) { int i = I, n = gridDim.x * blockDim.x, k = 0;
  double a = x[i], b = fabs(a); float f = (float)a, g = fabsf(f);
  D(sin(a)); D(cos(a)); D(tan(a)); D(exp(a)); D(exp2(a)); D(expm1(a)); D(log(b)); D(log2(b)); D(log10(b));
  D(log1p(b)); D(sinh(a)); D(cosh(a)); D(tanh(a)); D(asinh(a)); D(atan(a)); D(cbrt(a)); D(erf(a)); D(erfc(a));
  D(tgamma(b)); D(lgamma(b)); D(pow(b, 1.7)); D(atan2(a, 0.3)); D(hypot(a, 2.0)); D(rsqrt(b));
  D(sinf(f)); D(cosf(f)); D(tanf(f)); D(expf(f)); D(exp2f(f)); D(expm1f(f)); D(logf(g)); D(log2f(g)); D(log10f(g));
  D(log1pf(g)); D(sinhf(f)); D(coshf(f)); D(tanhf(f)); D(asinhf(f)); D(atanf(f)); D(cbrtf(f)); D(erff(f));
  D(erfcf(f)); D(tgammaf(g)); D(lgammaf(g)); D(powf(g, 1.7f)); D(atan2f(f, 0.3f)); D(hypotf(f, 2.0f));
  D(rsqrtf(g)); }
__global__ void arcs(const double *x, double *r) { int i = I, n = gridDim.x * blockDim.x, k = 0; double a = x[i];
  float f = (float)a; D(asin(a)); D(acos(a)); D(atanh(a)); D(acosh(1 + fabs(a))); D(asinf(f)); D(acosf(f));
  D(atanhf(f)); D(acoshf(1 + fabsf(f))); }
__global__ void collatz(int *r) { int i = I, k = 0; long long n = i + 1; while (n != 1) {
  n = n % 2 ? 3 * n + 1 : n / 2; k++; } r[i] = k; }
__device__ __noinline__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__device__ int table[4] = {3, 1, 4, 1}; __constant__ double weights[3] = {0.5, 0.25, 8};
__global__ void calls(int *r, double *w) { int i = I; int local[8];
  for (int k = 0; k < 8; k++) local[(k * 3 + i) % 8] = k * i; int s = 0;
  for (int k = 0; k < 8; k++) s = s * 3 + local[(k + i) & 7];
  switch (i % 9) { case 0: s += 5; break; case 1: s *= 3; break; case 2: s ^= 99; break; case 3: s -= i; break;
  case 4: s = -s; break; case 5: s |= 1024; break; case 6: s &= 255; break; case 7: s += s << 4; break;
  default: s = 1; }
  r[i] = s + fact(i % 10) + table[i % 4]; w[i] = weights[i % 3]; }
__global__ void transpose(int m, int n, const float *x, float *y) { __shared__ float t[16][17];
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i < m && j < n) t[threadIdx.y][threadIdx.x] = x[i * n + j]; __syncthreads();
  int c = blockIdx.y * 16 + threadIdx.x, d = blockIdx.x * 16 + threadIdx.y;
  if (c < m && d < n) y[d * m + c] = t[threadIdx.x][threadIdx.y]; }
extern __shared__ int dyn[];
__global__ void dynamic(int n, const int *x, int *y) { int t = threadIdx.x;
  for (int k = t; k < n; k += blockDim.x) dyn[n - 1 - k] = x[k]; __syncthreads();
  for (int k = t; k < n; k += blockDim.x) y[k] = dyn[k] + dyn[(k + 1) % n]; }
// faults
__global__ void f_bounds(int *x) { x[I + 1] = 1; }
__global__ void f_align(const char *x, int *y) { y[threadIdx.x] = *(const int*)(x + threadIdx.x); }
__global__ void f_unset(int *y) { __shared__ int s[64]; if (threadIdx.x < 40) s[threadIdx.x] = 1; __syncthreads();
  y[threadIdx.x] = s[threadIdx.x]; }
__global__ void f_race(int *y) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[63 - threadIdx.x]; }
__global__ void f_war(int *y) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads();
  int v = s[63 - threadIdx.x]; s[threadIdx.x] = v + 1; y[threadIdx.x] = v; }
__global__ void f_blocks(int *y) { if (!threadIdx.x) y[0] = blockIdx.x; }
__global__ void f_barrier(int *y) { if (threadIdx.x < 16) { y[threadIdx.x] = 1; __syncthreads(); } else {
  y[threadIdx.x] = 2; __syncthreads(); y[threadIdx.x] += 1; } }
__global__ void f_gone(int *y) { if (threadIdx.x < 16) return; __syncthreads(); y[threadIdx.x] = 1; }
__global__ void f_mask(int *y) { if (threadIdx.x < 16) y[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 3); }
__global__ void f_zero(int *y, int z) { y[threadIdx.x] = 5 / z; }
__global__ void f_shared(int *y, int k) { __shared__ int s[64]; s[threadIdx.x + k] = 1; __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + k]; }
__global__ void f_store_race(int *y) { y[threadIdx.x / 2] = threadIdx.x; }
}
