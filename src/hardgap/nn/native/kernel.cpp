// What Python calls (library.py): the network alone, the whole unrolled loss, and Adam's update.
//
// `sizes` is {cells in a row, dimensions, heads, hidden units, layers}; memory is the caller's, a multiple of 64 bytes
// from 0 and as large as the `…_floats` function says. Nothing here allocates more than a few words or starts a thread.
#include "network.h"

// Raise it with every change that may change a bit of a result.
constexpr int VERSION = 1;

// One group after another: f(first row, rows)
template <class F> INLINE void in_groups(long rows, long group, F f) {
    for (long first = 0; first < rows; first += group) f(first, std::min(group, rows - first));
}

// What is fed back at a timestep. [rows, W] each, or null where there is none.
struct Feedback {
    const float *inverse_temperature, *noise, *rounded;
    float *dinverse_temperature;
};
// 1 / T, or the slope where gradients pass straight through; as in training/unrolling.py
struct Regime {
    float inverse_temperature;  // of all cells, where `Feedback` has none of its own
    float backward;             // 0: the value's own gradient; > 0: that of a sigmoid at this 1 / T; < 0: a slope of 1/4
    int32_t hard;
};

INLINE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// The next cell, its slope in the logit, and that in 1 / T
INLINE float feed_back(float logit, const Regime &regime, float inverse_temperature, float *slope, float *slope_T) {
    float value = regime.hard ? float(logit > 0) : sigmoid(logit * inverse_temperature), bent = value;
    if (regime.backward > 0) bent = sigmoid(logit * regime.backward), inverse_temperature = regime.backward;
    *slope = regime.backward < 0 ? 0.25f : bent * (1 - bent) * inverse_temperature;
    *slope_T = regime.backward == 0 ? bent * (1 - bent) * logit : 0;
    return value;
}

// Cross-entropy of a logit, and its gradient
INLINE double cross_entropy(float z, float y, float *gradient) {
    float e = expf(-fabsf(z));
    *gradient = (z >= 0 ? 1 / (1 + e) : e / (1 + e)) - y;
    return (z > 0 ? z : 0) - z * y + log1pf(e);
}

namespace {
// The unrolled loss of a group of rows: forward through all timesteps, and back.
struct Unrolled {
    const Network &n;
    const NetworkGrad &g;
    const Scratch &z;
    const Regime &regime;
    long steps, rows_of_batch;
    std::vector<Memory> kept;
    std::vector<float *> cells, dlogits, slopes, slopes_T;
    float *logits, *dcells;

    Unrolled(Arena &a, const Network &n, const NetworkGrad &g, const Scratch &z, const Regime &regime, long steps, long rows)
        : n(n), g(g), z(z), regime(regime), steps(steps), rows_of_batch(rows) {
        const long M = n.s.cells();
        for (long t = 0; t < steps; t++) {
            kept.emplace_back(a, n.s);
            cells.push_back(a.take(M)), dlogits.push_back(a.take(M));
            slopes.push_back(a.take(M)), slopes_T.push_back(a.take(M));
        }
        logits = a.take(M), dcells = a.take(M);
    }

    double forward(long first, long rows, const float *start, const float *targets, const float *mask,
                   const float *weights, const Feedback *feedback) {
        const long M = rows * n.s.W, offset = first * n.s.W, batch = rows_of_batch * n.s.W;
        double loss = 0;
        memcpy(cells[0], start + offset, M * sizeof(float));
        for (long t = 0; t < steps; t++) {
            network_forward(n, rows, cells[t], kept[t], z, logits);
            for (long m = 0, at = t * batch + offset; m < M; m++, at++) {
                loss += double(weights[t] * mask[at]) * cross_entropy(logits[m], targets[at], &dlogits[t][m]);
                dlogits[t][m] *= weights[t] * mask[at];
            }
            if (t + 1 < steps) next_cells(t, M, offset, feedback[t]);
        }
        return loss;
    }
    void next_cells(long t, long M, long offset, const Feedback &f) {
        for (long m = 0, at = offset; m < M; m++, at++) {
            float logit = logits[m] + (f.noise ? f.noise[at] : 0);
            float inverse = f.inverse_temperature ? f.inverse_temperature[at] : regime.inverse_temperature;
            float value = feed_back(logit, regime, inverse, &slopes[t][m], &slopes_T[t][m]);
            cells[t + 1][m] = f.rounded && f.rounded[at] > 0 ? float(value > 0.5f) : value;
        }
    }
    void backward(long first, long rows, const Feedback *feedback) {
        const long M = rows * n.s.W, offset = first * n.s.W;
        for (long t = steps; t--;) {
            if (t + 1 < steps)
                for (long m = 0; m < M; m++) {
                    dlogits[t][m] += dcells[m] * slopes[t][m];
                    if (feedback[t].dinverse_temperature)
                        feedback[t].dinverse_temperature[offset + m] = dcells[m] * slopes_T[t][m];
                }
            network_backward(n, g, rows, cells[t], kept[t], z, dlogits[t], dcells);
        }
    }
};

// All that lies in the work memory
struct Work {
    Arena arena;
    Network n;
    NetworkGrad g;
    Scratch z;
    Work(const int32_t *sizes, float *memory) : arena{memory}, n(arena, Shape(sizes)), g(arena, n), z(arena, n.s) {}
};
}  // namespace

extern "C" {
int hardgap_version() { return VERSION; }
const char *hardgap_source() { return SOURCE; }      // the hash of the source that this was built from
const char *hardgap_compiler() { return COMPILER; }  // another compiler may round otherwise
int hardgap_vector() { return VL; }

// The best build for this processor: 16 for AVX-512, 8 for AVX2, 4 for the portable one.
int hardgap_best_vector() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (wide && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return 16;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
    return 4;
}

long hardgap_memory_floats(const int32_t *sizes, long rows) {  // what the way back needs of the way there
    const Shape s(sizes);
    Arena a{nullptr};
    Memory(a, s);
    return a.used * ((rows + s.group() - 1) / s.group());
}
long hardgap_work_floats(const int32_t *sizes) {  // of the network alone
    Work work(sizes, nullptr);
    Memory(work.arena, work.n.s);
    work.arena.take(work.n.s.cells());
    return work.arena.used;
}

// cells [rows, W] -> logits [rows, W]; memory may be null if there is no way back
void hardgap_forward(const int32_t *sizes, const float *const *parameters, long rows, const float *cells, float *logits,
                     float *memory, float *work_memory) {
    DenormalsAreZero on;
    Work w(sizes, work_memory);
    const Shape &s = w.n.s;
    w.n.pack(Pointers<const float>(parameters, s.layers));
    in_groups(rows, s.group(), [&](long first, long some) {
        Arena a = memory ? Arena{memory} : w.arena;
        network_forward(w.n, some, cells + first * s.W, Memory(a, s), w.z, logits + first * s.W);
        if (memory) memory += a.used;
    });
}

// Gradients of the parameters (written) and of the cells (if wanted), given that of the logits
void hardgap_backward(const int32_t *sizes, const float *const *parameters, long rows, const float *cells,
                      float *memory, const float *dlogits, float *dcells, float *const *gradients, float *work_memory) {
    DenormalsAreZero on;
    Work w(sizes, work_memory);
    const Shape &s = w.n.s;
    float *unwanted = w.arena.take(s.cells());
    w.n.pack(Pointers<const float>(parameters, s.layers));
    w.g.clear();
    in_groups(rows, s.group(), [&](long first, long some) {
        Arena a{memory};
        const long at = first * s.W;
        network_backward(w.n, w.g, some, cells + at, Memory(a, s), w.z, dlogits + at, dcells ? dcells + at : unwanted);
        memory += a.used;
    });
    w.g.unpack(w.n, Pointers<float>(gradients, s.layers));
}

long hardgap_loss_floats(const int32_t *sizes, long steps) {
    Work w(sizes, nullptr);
    Unrolled(w.arena, w.n, w.g, w.z, Regime{}, steps, 0);
    return w.arena.used;
}

// The summed loss of a batch and its gradients (written). start [rows, W]; targets and mask [steps, rows, W];
// weights [steps]; feedback [steps - 1].
double hardgap_loss(const int32_t *sizes, const float *const *parameters, long rows, long steps, const float *start,
                    const float *targets, const float *mask, const float *weights, const Regime *regime,
                    const Feedback *feedback, float *const *gradients, float *work_memory) {
    DenormalsAreZero on;
    Work w(sizes, work_memory);
    const Shape &s = w.n.s;
    Unrolled unrolled(w.arena, w.n, w.g, w.z, *regime, steps, rows);
    w.n.pack(Pointers<const float>(parameters, s.layers));
    w.g.clear();
    double loss = 0;
    in_groups(rows, s.group(), [&](long first, long some) {
        loss += unrolled.forward(first, some, start, targets, mask, weights, feedback);
        unrolled.backward(first, some, feedback);
    });
    w.g.unpack(w.n, Pointers<float>(gradients, s.layers));
    return loss;
}

// Adam as torch.optim.Adam has it without weight decay, for `count` tensors of `sizes` numbers each.
void hardgap_adam(long count, const int64_t *sizes, float *const *parameters, const float *const *gradients,
                  float *const *means, float *const *squares, double rate, double beta1, double beta2, double eps,
                  double step) {
    DenormalsAreZero on;
    const float size = rate / (1 - pow(beta1, step)), root = sqrt(1 - pow(beta2, step));
    const float b1 = 1 - beta1, b2 = beta2, c2 = 1 - beta2, e = eps;
    for (long t = 0; t < count; t++) {
        float *__restrict p = parameters[t], *__restrict m = means[t], *__restrict v = squares[t];
        const float *__restrict g = gradients[t];
        for (int64_t i = 0; i < sizes[t]; i++) {
            m[i] += b1 * (g[i] - m[i]);
            v[i] = b2 * v[i] + c2 * g[i] * g[i];
            p[i] -= size * m[i] / (sqrtf(v[i]) / root + e);
        }
    }
}
}
