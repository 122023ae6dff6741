// The same with std::vector, and std::deque where elements come before others or go. The last one of the result is told.
#include <array>
#include <cstdint>
#include <deque>
#include <numeric>
#include <vector>

extern "C" {
void push(int64_t n, int32_t *last) {
  std::vector<int32_t> r;
  for (int32_t i = 0; i < n; i++) r.push_back(i);
  *last = r.empty() ? 0 : r.back();
}
void unshift(int64_t n, int32_t *last) {
  std::deque<int32_t> r;
  for (int32_t i = 0; i < n; i++) r.push_front(i);
  *last = r.empty() ? 0 : r.back();
}
void pieces(int64_t n, int32_t *last) {
  std::vector<int32_t> r;
  for (int32_t i = 0; i < n; i++) {
    std::vector<int32_t> piece(i % 50);
    std::iota(piece.begin(), piece.end(), 0);
    r.insert(r.end(), piece.begin(), piece.end());
  }
  *last = r.empty() ? 0 : r.back();
}
void filtered(int64_t n, int32_t *last) {
  std::vector<int32_t> r;
  for (int32_t i = 0; i < n; i++)
    if (i % 2 != 0 && i % 3 != 0) r.push_back(i);
  *last = r.empty() ? 0 : r.back();
}
void rows(int64_t n, int32_t *last) {
  std::vector<std::array<double, 3>> r;
  for (int32_t i = 0; i < n; i++) r.push_back({double(i), 0.5, 1.5});
  *last = r.empty() ? 0 : int32_t(r.back()[2]);
}
void points(int64_t n, int32_t *last) {
  std::vector<double> x, y;
  for (int32_t i = 0; i < n; i++) {
    x.push_back(i);
    y.push_back(0.5 * i);
  }
  *last = int32_t(std::accumulate(x.begin(), x.end(), 0.0) + std::accumulate(y.begin(), y.end(), 0.0) != 0.0);
}
void queue(int64_t n, int32_t *last) {
  std::deque<int32_t> q(1000);
  std::iota(q.begin(), q.end(), 0);
  for (int32_t i = 0; i < n; i++) {
    q.pop_front();
    q.push_back(i);
  }
  *last = q.back();
}
}
