// A support vector machine of two classes on a kernel matrix: sequential minimal optimisation, the working set chosen by
// second-order information (Fan, Chen, Lin, 2005), as in libsvm without its shrinking. With F = K (y a) - y it goes from
//
//     i = argmax -F[i] over those that may rise,   j = argmax (F[j] - F[i])^2 / (K_ii + K_jj - 2 K_ij) over those that may fall
//
// a step along y until no pair is further apart than the tolerance.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

constexpr double CURVATURE = 1e-12;  // of a step along which the kernel is flat
constexpr double FAR = std::numeric_limits<double>::infinity();

struct Problem {
    const double* gram;  // (n, n)
    const double* y;     // (n,), 1 or -1
    int64_t n;
    double C;
    std::vector<double> a, F;

    bool may_rise(int64_t k) const { return y[k] > 0 ? a[k] < C : a[k] > 0; }
    bool may_fall(int64_t k) const { return y[k] > 0 ? a[k] > 0 : a[k] < C; }

    // Takes one step; false where none is left that would change anything.
    bool step(double tolerance) {
        int64_t i = -1, j = -1;
        double highest = -FAR, lowest = FAR, best = 0;
        for (int64_t k = 0; k < n; ++k)
            if (-F[k] >= highest && may_rise(k)) highest = -F[k], i = k;
        if (i < 0) return false;
        const double* const row = gram + i * n;
        for (int64_t k = 0; k < n; ++k) {
            if (!may_fall(k)) continue;
            lowest = std::min(lowest, -F[k]);
            const double apart = highest + F[k];
            if (apart <= 0) continue;
            const double curve = std::max(CURVATURE, row[i] + gram[k * n + k] - 2 * row[k]);
            if (apart * apart / curve >= best) best = apart * apart / curve, j = k;
        }
        if (j < 0 || highest - lowest < tolerance) return false;
        move(i, j, (highest + F[j]) / std::max(CURVATURE, row[i] + gram[j * n + j] - 2 * row[j]));
        return true;
    }

    void move(int64_t i, int64_t j, double by) {
        by = std::min({by, y[i] > 0 ? C - a[i] : a[i], y[j] > 0 ? a[j] : C - a[j]});
        // A coefficient that reaches its bound is on it, whatever is lost in rounding.
        a[i] = y[i] > 0 ? (by == C - a[i] ? C : a[i] + by) : (by == a[i] ? 0 : a[i] - by);
        a[j] = y[j] > 0 ? (by == a[j] ? 0 : a[j] - by) : (by == C - a[j] ? C : a[j] + by);
        const double *const rise = gram + i * n, *const fall = gram + j * n;
        for (int64_t k = 0; k < n; ++k) F[k] += by * (rise[k] - fall[k]);
    }

    // The decision's offset: where it is -F of a coefficient between its bounds, or the middle of what is allowed.
    double offset() const {
        double sum = 0, above = FAR, below = -FAR;
        int64_t free = 0;
        for (int64_t k = 0; k < n; ++k) {
            if (may_rise(k) && may_fall(k)) sum -= F[k], ++free;
            else if (may_rise(k)) below = std::max(below, -F[k]);
            else above = std::min(above, -F[k]);
        }
        return free ? sum / static_cast<double>(free) : (above + below) / 2;
    }
};

}  // namespace

// The coefficients (n,) with their signs, and behind them the offset; 1 where they converged within so many steps, else 0.
extern "C" int wavetell_machine(const double* gram, const double* y, int64_t n, double C, double tolerance, int64_t steps, double* out) {
    Problem problem{gram, y, n, C, std::vector<double>(n), std::vector<double>(n)};
    for (int64_t k = 0; k < n; ++k) problem.F[k] = -y[k];
    bool going = true;
    for (int64_t s = 0; s < steps && going; ++s) going = problem.step(tolerance);
    for (int64_t k = 0; k < n; ++k) out[k] = y[k] * problem.a[k];
    out[n] = problem.offset();
    return !going;
}
