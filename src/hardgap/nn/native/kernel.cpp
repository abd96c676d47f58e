// What Python calls (library.py): the encoder alone and its whole unrolled loss; the encoder-decoder's loss, logits and
// greedy answers; clipping, Adam's update.
//
// `sizes` are the network's, as network.h and seq2seq.h have them; memory is the caller's, a multiple of 64 bytes
// from 0 and as large as the `…_floats` function says. Nothing here allocates more than a few words or starts a thread.
#include "network.h"
#include "seq2seq.h"

// Raise it with every change that may change a bit of a result.
constexpr int VERSION = 3;

// One group after another: f(first row, rows)
template <class F> INLINE void in_groups(long rows, long group, F f) {
    for (long first = 0; first < rows; first += group) f(first, std::min(group, rows - first));
}

// What is fed back at a timestep. [rows, W] each, or null where there is none.
struct Feedback {
    const float *inverse_temperature, *noise, *rounded;
    float *dinverse_temperature;
};
// 1 / T, or the slope where gradients pass straight through; as in worlds/automaton/unrolling.py
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

INLINE double sum_of_squares(long n, const float *x) {
    vf total{};
    long i = 0;
    for (; i + VL <= n; i += VL) total += load(x + i) * load(x + i);
    double found = sum(total);
    for (; i < n; i++) found += double(x[i]) * x[i];
    return found;
}

namespace {
// The unrolled loss of a group of rows: forward through all timesteps, and back.
struct Unrolled {
    const Network &n;
    const NetworkGrad &g;
    const Scratch &z;
    const Regime &regime;
    Dropout drop;
    long steps, rows_of_batch;
    std::vector<Memory> kept;
    std::vector<float *> cells, dlogits, slopes, slopes_T;
    float *logits, *dcells;

    Unrolled(Arena &a, const Network &n, const NetworkGrad &g, const Scratch &z, const Regime &regime, const Dropout &drop,
             long steps, long rows)
        : n(n), g(g), z(z), regime(regime), drop(drop), steps(steps), rows_of_batch(rows) {
        const long M = n.s.cells();
        for (long t = 0; t < steps; t++) {
            kept.emplace_back(a, n);
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
            network_forward(n, rows, cells[t], kept[t], z, logits, drop.of(first).of(t));
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
            network_backward(n, g, rows, cells[t], kept[t], z, dlogits[t], dcells, drop.of(first).of(t));
        }
    }
};

// All that lies in the work memory
struct Work {
    Arena arena;
    Network n;
    NetworkGrad g;
    Scratch z;
    Work(const int32_t *sizes, float *memory) : arena{memory}, n(arena, sizes), g(arena, n), z(arena, n.s) {}
};

// The same for the encoder-decoder
struct Seq2SeqWork {
    Arena arena;
    Seq2Seq n;
    EncoderMemory in;
    DecoderMemory out;
    Scratch z_in, z_out;
    Seq2SeqWork(const int32_t *sizes, long T, float *memory)
        : arena{memory}, n(arena, sizes, T, group_of(std::max<long>(sizes[0], T), TOKENS_OF_A_GROUP)), in(arena, n), out(arena, n),
          z_in(arena, n.in), z_out(arena, n.out, n.in.W) {}
    void forward(long rows, const Token *inputs, const Token *tokens, long stride) const {
        encode(n, rows, inputs, in, z_in);
        decode(n, rows, tokens, stride, in.norm.out, out, z_out);
    }
};
struct GreedyWork {
    Arena arena;
    Seq2Seq n;
    Shape one;
    EncoderMemory in;
    Scratch z_in, z;
    Greedy greedy;
    GreedyWork(const int32_t *s, long steps, float *memory)
        : arena{memory}, n(arena, s, steps, DECODED_AT_ONCE), one(1, s[3], s[4], s[5], DECODED_AT_ONCE), in(arena, n),
          z_in(arena, n.in), z(arena, one), greedy(arena, n, one, z) {}
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
    Arena none{nullptr}, a{nullptr};
    const Network n(none, sizes);
    Memory(a, n);
    return a.used * ((rows + n.s.group - 1) / n.s.group);
}
long hardgap_work_floats(const int32_t *sizes) {  // of the network alone
    Work work(sizes, nullptr);
    Memory(work.arena, work.n);
    work.arena.take(work.n.s.cells());
    return work.arena.used;
}

// cells [rows, W] -> logits [rows, W]; memory may be null if there is no way back
void hardgap_forward(const int32_t *sizes, const float *const *parameters, long rows, const float *cells, float *logits,
                     float *memory, float *work_memory) {
    DenormalsAreZero on;
    Work w(sizes, work_memory);
    const Shape &s = w.n.s;
    w.n.pack(Pointers<const float>(parameters));
    in_groups(rows, s.group, [&](long first, long some) {
        Arena a = memory ? Arena{memory} : w.arena;
        network_forward(w.n, some, cells + first * s.W, Memory(a, w.n), w.z, logits + first * s.W);
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
    w.n.pack(Pointers<const float>(parameters));
    w.g.clear();
    in_groups(rows, s.group, [&](long first, long some) {
        Arena a{memory};
        const long at = first * s.W;
        network_backward(w.n, w.g, some, cells + at, Memory(a, w.n), w.z, dlogits + at, dcells ? dcells + at : unwanted);
        memory += a.used;
    });
    w.g.finish(w.n);
    w.g.unpack(w.n, Pointers<float>(gradients));
}

long hardgap_loss_floats(const int32_t *sizes, long steps) {
    Work w(sizes, nullptr);
    Unrolled(w.arena, w.n, w.g, w.z, Regime{}, Dropout{}, steps, 0);
    return w.arena.used;
}

// The summed loss of a batch and its gradients (written). start [rows, W]; targets and mask [steps, rows, W];
// weights [steps]; feedback [steps - 1]. A share of what dropout may drop is dropped, as a key draws it.
double hardgap_loss(const int32_t *sizes, const float *const *parameters, long rows, long steps, const float *start,
                    const float *targets, const float *mask, const float *weights, const Regime *regime,
                    const Feedback *feedback, uint32_t key, double share, float *const *gradients, float *work_memory) {
    DenormalsAreZero on;
    Work w(sizes, work_memory);
    const Shape &s = w.n.s;
    const Dropout drop{key, uint32_t(share * 4294967296.0), float(1 / (1 - share))};
    Unrolled unrolled(w.arena, w.n, w.g, w.z, *regime, drop, steps, rows);
    w.n.pack(Pointers<const float>(parameters));
    w.g.clear();
    double loss = 0;
    in_groups(rows, s.group, [&](long first, long some) {
        loss += unrolled.forward(first, some, start, targets, mask, weights, feedback);
        unrolled.backward(first, some, feedback);
    });
    w.g.finish(w.n);
    w.g.unpack(w.n, Pointers<float>(gradients));
    return loss;
}

long hardgap_seq2seq_floats(const int32_t *sizes, long T) {  // of the loss and the logits
    Seq2SeqWork w(sizes, T, nullptr);
    Seq2SeqGrad(w.arena, w.n);
    return w.arena.used;
}

// The mean loss of the T tokens after the first of each sequence, and its gradients (written). inputs [rows, S],
// sequences [rows, T + 1].
double hardgap_seq2seq_loss(const int32_t *sizes, const float *const *parameters, long rows, long T, const Token *inputs,
                            const Token *sequences, float *const *gradients, float *work_memory) {
    DenormalsAreZero on;
    Seq2SeqWork w(sizes, T, work_memory);
    const Seq2SeqGrad g(w.arena, w.n);
    const long N = w.n.readout.out.length(), S = w.n.in.W, stride = T + 1;
    const double weight = 1.0 / double(rows * T);
    w.n.pack(Seq2SeqPointers<const float>(parameters));
    g.clear();
    double loss = 0;
    in_groups(rows, w.n.in.group, [&](long first, long some) {
        const Token *in = inputs + first * S, *tokens = sequences + first * stride;
        w.forward(some, in, tokens, stride);
        for (long m = 0; m < some * T; m++)
            loss += token_loss(N, w.out.logits + m * N, tokens[m / T * stride + m % T + 1], float(weight));
        decode_backward(w.n, g, some, tokens, stride, w.in.norm.out, w.out, w.z_out, w.z_in);
        encode_backward(w.n, g, some, in, w.in, w.z_in);
    });
    g.finish(w.n);
    g.unpack(w.n, Seq2SeqPointers<float>(gradients), sizes[1]);
    return loss * weight;
}

// logits [rows, T, V] of the tokens after each of tokens [rows, T]
void hardgap_seq2seq_logits(const int32_t *sizes, const float *const *parameters, long rows, long T, const Token *inputs,
                            const Token *tokens, float *logits, float *work_memory) {
    DenormalsAreZero on;
    Seq2SeqWork w(sizes, T, work_memory);
    w.n.pack(Seq2SeqPointers<const float>(parameters));
    in_groups(rows, w.n.in.group, [&](long first, long some) {
        w.forward(some, inputs + first * w.n.in.W, tokens + first * T, T);
        copy_rows(some * T, w.n.V, logits + first * T * w.n.V, w.n.V, w.out.logits, w.n.readout.out.length());
    });
}

long hardgap_greedy_floats(const int32_t *sizes, long steps) { return GreedyWork(sizes, steps, nullptr).arena.used; }

// The likeliest tokens [rows, 1 + steps], of which the first are given, and the probabilities [rows, steps] of the rest
void hardgap_greedy(const int32_t *sizes, const float *const *parameters, long rows, long steps, const Token *inputs,
                    Token *tokens, float *confidence, float *work_memory) {
    DenormalsAreZero on;
    GreedyWork w(sizes, steps, work_memory);
    w.n.pack(Seq2SeqPointers<const float>(parameters));
    in_groups(rows, DECODED_AT_ONCE, [&](long first, long some) {
        encode(w.n, some, inputs + first * w.n.in.W, w.in, w.z_in);
        w.greedy.remember(some, w.in.norm.out);
        Token *of_group = tokens + first * (steps + 1);
        for (long t = 0; t < steps; t++) {
            w.greedy.step(some, t, of_group + t, steps + 1);
            for (long r = 0; r < some; r++)
                of_group[r * (steps + 1) + t + 1] = w.greedy.choose(r, confidence + (first + r) * steps + t);
        }
    });
}

// Gradients, `count` tensors of `sizes` numbers each, times what makes their norm `most` if it is larger, as
// torch.nn.utils.clip_grad_norm_ does.
void hardgap_clip(long count, const int64_t *sizes, float *const *gradients, double most) {
    DenormalsAreZero on;
    double squares = 0;
    for (long t = 0; t < count; t++) squares += sum_of_squares(sizes[t], gradients[t]);
    const float by = most / (sqrt(squares) + 1e-6);
    if (by >= 1) return;  // NaN goes on, and makes every gradient NaN
    for (long t = 0; t < count; t++)
        for (int64_t i = 0; i < sizes[t]; i++) gradients[t][i] *= by;
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
