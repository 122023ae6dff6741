#include <math.h>
#include <stdint.h>

#pragma omp declare simd notinbranch
static inline double normal(double x)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(x));
    double poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double tail = 0.3989422804014327 * exp(-0.5 * x * x) * poly;
    return x < 0.0 ? tail : 1.0 - tail;
}

void blackscholes(double *restrict calls, double *restrict puts, const double *restrict spot, const double *restrict strike,
                  const double *restrict years, double rate, double volatility, int64_t n)
{
#pragma omp parallel for simd schedule(static) if (n > 1000)
    for (int64_t i = 0; i < n; i++) {
        double spread = volatility * sqrt(years[i]);
        double d1 = (log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / spread;
        double discounted = strike[i] * exp(-rate * years[i]);
        double call = spot[i] * normal(d1) - discounted * normal(d1 - spread);
        calls[i] = call;
        puts[i] = call + discounted - spot[i];
    }
}
