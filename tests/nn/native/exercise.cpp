// Calls everything in the kernel with memory of exactly the size that it asks for, so that sanitizers notice one byte more.
// Prints what it got, a line a call, so that one processor's answers can be held against another's.
#include "kernel.cpp"

#include <cstdio>
#include <cstdlib>

struct Heap {  // on the heap, alone
    float *at;
    ~Heap() { free(at); }
};
struct Array : Heap {  // what is given
    explicit Array(long floats) : Heap{(float *)malloc(floats * 4)} {
        for (long i = 0; i < floats; i++) at[i] = float(rand()) / RAND_MAX - 0.5f;
    }
    Array(const Array &) = delete;
};
struct Space : Heap {  // for the kernel: as much as it asks for, in whole lines of the cache, and nothing in it
    explicit Space(long floats) : Heap{(float *)aligned_alloc(64, (floats * 4 + 63) / 64 * 64)} {
        for (long i = 0; i < floats; i++) at[i] = NAN;
    }
    Space(const Space &) = delete;
};

static double size_of(const float *of, long n) {
    double squares = 0;
    for (long i = 0; i < n; i++) squares += double(of[i]) * of[i];
    return sqrt(squares);
}
// A value, and the length of all gradients together
static void tell(double value, const std::vector<float *> &gradients, const std::vector<long> &lengths) {
    double squares = 0;
    for (size_t i = 0; i < lengths.size(); i++) squares += pow(size_of(gradients[i], lengths[i]), 2);
    printf("%.9g %.9g\n", value, sqrt(squares));
}

static void exercise(const int32_t (&sizes)[5], long rows, long steps) {
    const long W = sizes[0], D = sizes[1], F = sizes[3];
    std::vector<long> lengths = {W * D, D, D};
    for (int i = 0; i < sizes[4]; i++)
        for (long n : {3 * D * D, 3 * D, D * D, D, D, D, F * D, F, D * F, D, D, D}) lengths.push_back(n);
    lengths.push_back(D), lengths.push_back(1);
    std::vector<float *> parameters, gradients, means, squares;
    std::vector<const float *> given;
    std::vector<int64_t> counts(lengths.begin(), lengths.end());
    for (long n : lengths)
        for (std::vector<float *> *into : {&parameters, &gradients, &means, &squares}) {
            into->push_back((float *)malloc(n * 4));
            for (long i = 0; i < n; i++) into->back()[i] = into == &parameters ? float(rand()) / RAND_MAX - 0.5f : 0;
        }
    given.assign(parameters.begin(), parameters.end());
    Array cells(rows * W), logits(rows * W), d(rows * W), dcells(rows * W), targets(steps * rows * W), mask(steps * rows * W);
    Space memory(hardgap_memory_floats(sizes, rows)), work(hardgap_work_floats(sizes)), whole(hardgap_loss_floats(sizes, steps));
    hardgap_forward(sizes, given.data(), rows, cells.at, logits.at, nullptr, work.at);
    hardgap_forward(sizes, given.data(), rows, cells.at, logits.at, memory.at, work.at);
    hardgap_backward(sizes, given.data(), rows, cells.at, memory.at, d.at, dcells.at, gradients.data(), work.at);
    hardgap_backward(sizes, given.data(), rows, cells.at, memory.at, d.at, nullptr, gradients.data(), work.at);
    tell(size_of(logits.at, rows * W), gradients, lengths);
    printf("%.9g\n", size_of(dcells.at, rows * W));
    Array weights(steps), inverse(rows * W), noise(rows * W), rounded(rows * W), dinverse(rows * W);
    for (const Feedback &each : {Feedback{inverse.at, noise.at, rounded.at, dinverse.at}, Feedback{}}) {
        std::vector<Feedback> feedback(steps - 1, each);
        for (Regime regime : {Regime{1, 0, 0}, Regime{1, 1, 1}, Regime{0.5f, -1, 0}})
            for (double dropped : {0.0, 0.25})
                tell(hardgap_loss(sizes, given.data(), rows, steps, cells.at, targets.at, mask.at, weights.at, &regime,
                                  feedback.data(), 77, dropped, gradients.data(), whole.at),
                     gradients, lengths);
    }
    hardgap_clip(counts.size(), counts.data(), gradients.data(), 1e-3);
    hardgap_adam(counts.size(), counts.data(), parameters.data(), gradients.data(), means.data(), squares.data(), 1e-3,
                 0.9, 0.999, 1e-8, 1);
    tell(0, parameters, lengths);
    for (std::vector<float *> *each : {&parameters, &gradients, &means, &squares})
        for (float *array : *each) free(array);
}

static void exercise_seq2seq(const int32_t (&sizes)[7], long rows, long T) {
    const long S = sizes[0], V = sizes[2], D = sizes[3], F = sizes[5], layers = sizes[6];
    std::vector<long> lengths = {V * D, S * D, sizes[1] * D};
    const std::vector<long> attention = {3 * D * D, 3 * D, D * D, D, D, D}, ffn = {F * D, F, D * F, D, D, D};
    auto more = [&](const std::vector<long> &n) { lengths.insert(lengths.end(), n.begin(), n.end()); };
    for (long i = 0; i < layers; i++) more(attention), more(ffn);
    more({D, D});
    for (long i = 0; i < layers; i++) more(attention), more(attention), more(ffn);
    more({D, D, V * D, V});
    std::vector<float *> parameters, gradients;
    for (long n : lengths)
        for (std::vector<float *> *into : {&parameters, &gradients}) {
            into->push_back((float *)malloc(n * 4));
            for (long i = 0; i < n; i++) into->back()[i] = float(rand()) / RAND_MAX - 0.5f;
        }
    const std::vector<const float *> given(parameters.begin(), parameters.end());
    std::vector<Token> inputs(rows * S), sequences(rows * (T + 1)), tokens(rows * T);
    for (std::vector<Token> *each : {&inputs, &sequences, &tokens})
        for (Token &token : *each) token = rand() % V;
    Space work(hardgap_seq2seq_floats(sizes, T)), decoding(hardgap_greedy_floats(sizes, T));
    Array logits(rows * T * V), confidence(rows * T);
    tell(hardgap_seq2seq_loss(sizes, given.data(), rows, T, inputs.data(), sequences.data(), gradients.data(), work.at),
         gradients, lengths);
    hardgap_seq2seq_logits(sizes, given.data(), rows, T, inputs.data(), tokens.data(), logits.at, work.at);
    hardgap_greedy(sizes, given.data(), rows, T, inputs.data(), sequences.data(), confidence.at, decoding.at);
    printf("%.9g %.9g\n", size_of(logits.at, rows * T * V), size_of(confidence.at, rows * T));
    for (std::vector<float *> *each : {&parameters, &gradients})
        for (float *array : *each) free(array);
}

int main() {
    const int32_t networks[][4] = {{64, 4, 128, 2}, {6, 6, 1, 1}, {60, 3, 37, 1}};
    for (const auto &n : networks)
        for (int32_t width : {3, 17, 101})
            for (long rows : {1, 9}) exercise({width, n[0], n[1], n[2], n[3]}, rows, rows == 1 ? 1 : 2);
    exercise({256, 128, 4, 512, 1}, 1, 2);
    for (const auto &n : networks)
        for (const auto &lengths : {std::pair(1, 3), std::pair(5, 16), std::pair(7, 3), std::pair(70, 66)}) {
            const auto [inputs, places] = lengths;
            for (long rows : {1, places < 66 ? 33 : 2})
                exercise_seq2seq({inputs, places, n[0] + inputs, n[0], n[1], n[2], n[3]}, rows, places - 1);
        }
    puts("done");
}
