// Order statistics: quantiles and medians of many values without sorting more than is needed.

#pragma once

#include <cstdint>
#include <vector>

namespace wavetell {

class Order {
  public:
    // Quantiles q of values (n), with linear interpolation between the two nearest, as NumPy has it.
    void quantiles(const float* values, long n, const double* q, int count, float* found);
    // The same of values that count by their weights: where the sum of weights passes the part q of all.
    void weighted(const float* values, const float* weights, long n, const double* q, int count, float* found);
    // One quantile of many values.
    float quantile(const float* values, long n, double q);
    float median(const float* values, long n);

  private:
    std::vector<uint64_t> pairs, scratch;  // the key of a value above, its weight's bits below
    std::vector<float> chosen;

    void sort();
};

}  // namespace wavetell
