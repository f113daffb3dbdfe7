// Fourier transforms in float32, real and imaginary parts apart: Stockham's self-sorting algorithm, in which `stride`
// transforms stand side by side ([n][stride]) and every pass runs over whole vectors of them.
//
//     y[k] = sum_n x[n] exp(-2 pi j n k / N)
//
// Every instruction set includes this file and compiles its own copy.

#pragma once

#include "fft_plan.h"
#include "vectors.h"

namespace wavetell {
namespace {

// Two halves of a complex array; passes go from one to another.
struct Split {
    float *re, *im;
};

inline void swap(Split& a, Split& b) {
    const Split was = a;
    a = b, b = was;
}

template <class V>
inline void turn(V& re, V& im, V by_re, V by_im) {
    const V was = re;
    re = was * by_re - im * by_im;
    im = was * by_im + im * by_re;
}

template <class V>
inline void butterfly2(V& a_re, V& a_im, V& b_re, V& b_im) {
    const V re = a_re - b_re, im = a_im - b_im;
    a_re += b_re, a_im += b_im, b_re = re, b_im = im;
}

// The transform of four: entries 0, 1, 2, 3 in order.
template <class V>
inline void butterfly4(V& a_re, V& a_im, V& b_re, V& b_im, V& c_re, V& c_im, V& d_re, V& d_im) {
    butterfly2(a_re, a_im, c_re, c_im);
    butterfly2(b_re, b_im, d_re, d_im);
    const V re = d_im, im = -d_re;  // times -j
    d_re = c_re - re, d_im = c_im - im;
    const V one_re = c_re + re, one_im = c_im + im;
    c_re = a_re - b_re, c_im = a_im - b_im;
    a_re += b_re, a_im += b_im;
    b_re = one_re, b_im = one_im;
}

template <int R, class V>
inline void butterfly(V (&re)[R], V (&im)[R], const float* circle) {
    if constexpr (R == 2) {
        butterfly2(re[0], im[0], re[1], im[1]);
    } else if constexpr (R == 4) {
        butterfly4(re[0], im[0], re[1], im[1], re[2], im[2], re[3], im[3]);
    } else if constexpr (R == 8) {
        for (int i = 0; i < 4; ++i) butterfly2(re[i], im[i], re[i + 4], im[i + 4]);
        const V half = spread<V>(0.70710678f), minus = spread<V>(-0.70710678f), zero = V{}, one = spread<V>(-1.0f);
        turn(re[5], im[5], half, minus);
        turn(re[6], im[6], zero, one);
        turn(re[7], im[7], minus, minus);
        butterfly4(re[0], im[0], re[1], im[1], re[2], im[2], re[3], im[3]);  // 0 2 4 6
        butterfly4(re[4], im[4], re[5], im[5], re[6], im[6], re[7], im[7]);  // 1 3 5 7
        const V r[8] = {re[0], re[4], re[1], re[5], re[2], re[6], re[3], re[7]};
        const V i[8] = {im[0], im[4], im[1], im[5], im[2], im[6], im[3], im[7]};
        for (int k = 0; k < 8; ++k) re[k] = r[k], im[k] = i[k];
    } else {  // odd: sums and differences of opposite entries
        constexpr int H = R / 2;
        V sum_re[H], sum_im[H], part_re[H], part_im[H];
        V all_re = re[0], all_im = im[0];
        for (int j = 0; j < H; ++j) {
            sum_re[j] = re[j + 1] + re[R - 1 - j], sum_im[j] = im[j + 1] + im[R - 1 - j];
            part_re[j] = re[j + 1] - re[R - 1 - j], part_im[j] = im[j + 1] - im[R - 1 - j];
            all_re += sum_re[j], all_im += sum_im[j];
        }
        for (int k = 1; k <= H; ++k) {
            V even_re = re[0], even_im = im[0], odd_re = V{}, odd_im = V{};
            for (int j = 0; j < H; ++j) {
                const V cosine = spread<V>(circle[(j + 1) * k % R]), sine = spread<V>(circle[R + (j + 1) * k % R]);
                even_re += cosine * sum_re[j], even_im += cosine * sum_im[j];
                odd_re += sine * part_re[j], odd_im += sine * part_im[j];
            }
            re[k] = even_re + odd_im, im[k] = even_im - odd_re;
            re[R - k] = even_re - odd_im, im[R - k] = even_im + odd_re;
        }
        re[0] = all_re, im[0] = all_im;
    }
}

// y[q + s (R p + k)] = w^(p k) sum_j x[q + s (p + m j)] exp(-2 pi j j k / R), in vectors along q
template <int R, class V>
void pass(long from, long m, long s, Split x, Split y, const float* twiddle, const float* circle) {
    constexpr long LANES = sizeof(V) / sizeof(float);
    for (long p = from; p < m; ++p) {
        V w_re[R], w_im[R];
        for (int k = 1; k < R; ++k) {
            w_re[k] = spread<V>(twiddle[(k - 1) * m + p]);
            w_im[k] = spread<V>(twiddle[(R - 1 + k - 1) * m + p]);
        }
        for (long q = 0; q < s; q += LANES) {
            V re[R], im[R];
            for (int j = 0; j < R; ++j) {
                re[j] = load<V>(x.re + q + s * (p + m * j));
                im[j] = load<V>(x.im + q + s * (p + m * j));
            }
            butterfly<R, V>(re, im, circle);
            for (int k = 0; k < R; ++k) {
                if (k) turn(re[k], im[k], w_re[k], w_im[k]);
                store(y.re + q + s * (R * p + k), re[k]);
                store(y.im + q + s * (R * p + k), im[k]);
            }
        }
    }
}

// The same for one transform alone (s = 1) of radix 8, in vectors along p: blocks of 8 x 8 are turned.
long pass_alone(long m, Split x, Split y, const float* twiddle) {
    long p = 0;
    for (; p + 8 <= m; p += 8) {
        Float8 re[8], im[8];
        for (int j = 0; j < 8; ++j) re[j] = load<Float8>(x.re + p + m * j), im[j] = load<Float8>(x.im + p + m * j);
        butterfly<8, Float8>(re, im, nullptr);
        for (int k = 1; k < 8; ++k)
            turn(re[k], im[k], load<Float8>(twiddle + (k - 1) * m + p), load<Float8>(twiddle + (6 + k) * m + p));
        transpose(re);
        transpose(im);
        for (int i = 0; i < 8; ++i) store(y.re + 8 * (p + i), re[i]), store(y.im + 8 * (p + i), im[i]);
    }
    return p;
}

template <int R>
void pass_of(long m, long s, Split x, Split y, const float* twiddle, const float* circle) {
    if (s % 8 == 0) return pass<R, Float8>(0, m, s, x, y, twiddle, circle);
    if (s % 4 == 0) return pass<R, Float4>(0, m, s, x, y, twiddle, circle);
    pass<R, float>(R == 8 && s == 1 ? pass_alone(m, x, y, twiddle) : 0, m, s, x, y, twiddle, circle);
}

// `stride` transforms; the result is in `x`, and `y` is overwritten.
void transform(const Plan& plan, long stride, Split& x, Split& y) {
    long m = plan.n, s = stride;
    for (int i = 0; i < plan.passes; ++i) {
        const int radix = plan.radix[i];
        m /= radix;
        switch (radix) {
            case 2: pass_of<2>(m, s, x, y, plan.twiddle[i], plan.circle[i]); break;
            case 3: pass_of<3>(m, s, x, y, plan.twiddle[i], plan.circle[i]); break;
            case 4: pass_of<4>(m, s, x, y, plan.twiddle[i], plan.circle[i]); break;
            case 5: pass_of<5>(m, s, x, y, plan.twiddle[i], plan.circle[i]); break;
            case 7: pass_of<7>(m, s, x, y, plan.twiddle[i], plan.circle[i]); break;
            case 8: pass_of<8>(m, s, x, y, plan.twiddle[i], plan.circle[i]); break;
            default: pass_of<11>(m, s, x, y, plan.twiddle[i], plan.circle[i]);
        }
        s *= radix;
        swap(x, y);
    }
}

// One transform of any length; x and y have room for four times as many values.
void transform_any(long n, Chirp& chirp, Split& x, Split& y) {
    if (smooth(n)) return transform(plan_of(n), 1, x, y);
    chirp.make(n);
    const long size = chirp.plan->n;
    const float scale = 1.0f / float(size);
    const Split kernel{chirp.kernel_re, chirp.kernel_im};
    if (!chirp.ready) {
        Split from = kernel, other = y;
        transform(*chirp.plan, 1, from, other);
        if (from.re != kernel.re) {
            std::memcpy(kernel.re, from.re, size * sizeof(float));
            std::memcpy(kernel.im, from.im, size * sizeof(float));
        }
        for (long i = 0; i < size; ++i) kernel.re[i] *= scale, kernel.im[i] *= scale;
        chirp.ready = true;
    }
    for (long i = 0; i < n; ++i) turn(x.re[i], x.im[i], chirp.re[i], chirp.im[i]);
    for (long i = n; i < size; ++i) x.re[i] = x.im[i] = 0.0f;
    transform(*chirp.plan, 1, x, y);
    for (long i = 0; i < size; ++i) turn(x.re[i], x.im[i], kernel.re[i], kernel.im[i]);
    Split back{x.im, x.re}, other{y.im, y.re};  // with the parts exchanged it goes backwards
    transform(*chirp.plan, 1, back, other);
    x = {back.im, back.re}, y = {other.im, other.re};
    for (long i = 0; i < n; ++i) turn(x.re[i], x.im[i], chirp.re[i], chirp.im[i]);
}

// The floats that a long transform of n needs between its two halves.
constexpr long long_room(long n) {
    long rows = 1;
    while (rows * rows < n) rows *= 2;
    return n + rows * STRIP;
}

// A long one, of a power of two: first columns, then rows, so that each fits a cache. The first `used` values of x are
// not zero. put(k, re, im) takes the result, eight values from k on at a time; `desk` has room for 64 rows or columns.
template <class Put>
void transform_long(long n, long used, Split x, Split between, float* desk, Put put) {
    long rows = 1;
    while (rows * rows < n) rows *= 2;
    const long columns = n / rows, filled = used / columns, stride = columns + STRIP;
    const Turns& turns = turns_of(rows, columns);
    const Plan &down = plan_of(rows), &across = plan_of(columns);
    Split here{desk, desk + STRIP * rows}, there{desk + 2 * STRIP * rows, desk + 3 * STRIP * rows};
    for (long c = 0; c < columns; c += STRIP) {
        for (long r = 0; r < filled; ++r)
            for (long i = 0; i < STRIP; i += 8) {
                store(here.re + r * STRIP + i, load<Float8>(x.re + r * columns + c + i));
                store(here.im + r * STRIP + i, load<Float8>(x.im + r * columns + c + i));
            }
        for (long i = filled * STRIP; i < rows * STRIP; ++i) {
            const long at = i / STRIP * columns + c + i % STRIP;
            here.re[i] = at < used ? x.re[at] : 0.0f, here.im[i] = at < used ? x.im[at] : 0.0f;
        }
        transform(down, STRIP, here, there);
        for (long r = 0; r < rows; ++r) {
            const long coarse = c / STRIP * rows + r;
            const Float8 re = spread<Float8>(turns.coarse_re[coarse]), im = spread<Float8>(turns.coarse_im[coarse]);
            for (long i = 0; i < STRIP; i += 8) {
                const long from = r * STRIP + i, to = r * stride + c + i;
                Float8 x_re = load<Float8>(here.re + from), x_im = load<Float8>(here.im + from);
                turn(x_re, x_im, load<Float8>(turns.fine_re + from), load<Float8>(turns.fine_im + from));
                turn(x_re, x_im, re, im);
                store(between.re + to, x_re), store(between.im + to, x_im);
            }
        }
    }
    here = {desk, desk + STRIP * columns}, there = {desk + 2 * STRIP * columns, desk + 3 * STRIP * columns};
    for (long r = 0; r < rows; r += STRIP) {
        transpose(between.re + r * stride, STRIP, columns, stride, here.re, STRIP);
        transpose(between.im + r * stride, STRIP, columns, stride, here.im, STRIP);
        transform(across, STRIP, here, there);
        for (long k = 0; k < columns; ++k)
            for (long i = 0; i < STRIP; i += 8) {
                const long at = STRIP * k + i;
                put(k * rows + r + i, load<Float8>(here.re + at), load<Float8>(here.im + at));
            }
    }
}

}  // namespace
}  // namespace wavetell
