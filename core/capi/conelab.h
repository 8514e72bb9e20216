// Conelab for C: cone attention and the operators beside it, forward, backward and any rectangle of
// their maps, on tensors in memory of the caller.
//
//   conelab_plan* plan = NULL;
//   if (conelab_prepare("penumbral:gamma=2", inputs, 3, &plan) != CONELAB_OK)
//   puts(conelab_error()); conelab_forward(plan, inputs, 3, &output, 1, NULL);
//   conelab_release(plan);
//
// A call is one word of text, as `--operator` of the command line takes it: the operator, then
// :KEY=VALUE for its parts and parameters (`conelab help operators`).
//
// Every function returns a status; unless it is CONELAB_OK, conelab_error() says in one line what
// was wrong. No exception leaves a function. A plan does not change: several threads may use one at
// a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define CONELAB_API
#else
#define CONELAB_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CONELAB_OK = 0,
  CONELAB_FAILURE = 1,  ///< The work failed, for instance for lack of memory.
  CONELAB_MISUSE = 2,   ///< An unknown name, a value outside its domain, or a wrong shape or type.
  CONELAB_INTERRUPTED = 130  ///< `cancelled` of the run returned other than 0.
} conelab_status;

typedef enum {
  CONELAB_F64,
  CONELAB_F32,
  CONELAB_F16,   ///< IEEE binary16.
  CONELAB_BF16,  ///< The upper half of a float.
  CONELAB_I64,
  CONELAB_U8  ///< 0 or 1.
} conelab_dtype;

/// A named tensor in memory of the caller. Strides count numbers, not bytes; 0 repeats the same
/// numbers. Nothing is ever converted: a tensor of another type than the call needs is refused.
///
/// Inputs: "q" [.. x head x n_q x d], "k", "v" (without "k", q takes its place, and without "v", k
/// does), "output_grad" in the sizes of the output (ones, if it is absent), "mask" [.. x head x n_q
/// x n_k] of CONELAB_U8, any of whose axes may have the size 1, "lengths" [batch] and "edge" [m x
/// 2] of CONELAB_I64, "dropout" [2] of CONELAB_F64, the share of the weights that are dropped, in
/// [0, 1), and a seed, a whole number below 2^53, and parameters that are tensors, as "W"; of them
/// "bias" [.. x head x n_q x n_k] is read where it lies, and may have axes of size 1. Leading axes
/// are one axis of batch elements, and must lie in one sequence. The features of a token are
/// contiguous. q decides the type of the call.
typedef struct {
  const char* name;
  void* data;  ///< Only read where the tensor is an input.
  conelab_dtype dtype;
  size_t rank;
  const int64_t* sizes;    ///< [rank] It may be null for a tensor without axes only.
  const int64_t* strides;  ///< [rank] If it is null, the tensor is dense.
} conelab_tensor;

/// How to run a pass. A null pointer to it stands for all zeros.
typedef struct {
  int32_t threads;  ///< 0: all cores. The number does not change a bit of a result.
  /// Polled often, from any thread; other than 0 ends the pass with CONELAB_INTERRUPTED. May be
  /// null.
  int (*cancelled)(void* context);
  void* context;  ///< Handed to `cancelled`.
} conelab_run;

typedef enum { CONELAB_FORWARD, CONELAB_BACKWARD } conelab_pass;
typedef enum { CONELAB_LOGITS, CONELAB_WEIGHTS } conelab_map;

/// A rectangle of the map of one head.
typedef struct {
  int64_t batch, head;
  int64_t query_begin, query_end;
  int64_t key_begin, key_end;
} conelab_tile;

/// A call that has been checked for tensors of certain sizes.
typedef struct conelab_plan conelab_plan;

/// Returns the version, "0.1.0".
CONELAB_API const char* conelab_version(void);
/// Returns what was wrong in this thread's last call that failed, in one line; "" before any did.
/// It is valid until the next one fails.
CONELAB_API const char* conelab_error(void);

/// Checks a call for inputs of which names, types and sizes are looked at, but not the numbers, and
/// makes *plan, which conelab_release frees. Otherwise *plan is null.
CONELAB_API conelab_status conelab_prepare(const char* call, const conelab_tensor* inputs,
                                           size_t count, conelab_plan** plan);
/// Frees a plan; a null pointer is ignored.
CONELAB_API void conelab_release(conelab_plan* plan);

/// Returns the results that a pass can compute: names, types, and sizes with dense strides; without
/// memory. They belong to the plan.
///
/// Forward: "output" [batch x head x n_q x d_v]; if the operator has logits, "lse" [batch x head x
/// n_q], the logarithm of each row's sum, and further tensors that the backward pass reads.
/// Backward: "q", "k", "v" as far as the operator reads them, and of CONELAB_F64 each
/// differentiable parameter under its name.
CONELAB_API const conelab_tensor* conelab_results(const conelab_plan* plan, conelab_pass pass,
                                                  size_t* count);

/// Computes those results of the forward pass that are given. Their memory may have any strides.
CONELAB_API conelab_status conelab_forward(const conelab_plan* plan, const conelab_tensor* inputs,
                                           size_t input_count, const conelab_tensor* results,
                                           size_t result_count, const conelab_run* run);
/// Returns how this thread's last forward pass computed sums over pairs: "pairs" or "intervals"; ""
/// if the call has no choice of its evaluation.
CONELAB_API const char* conelab_evaluation(void);
/// Computes gradients of sum(output * output_grad). If all results of the forward pass are among
/// the inputs, it is not computed once more.
CONELAB_API conelab_status conelab_backward(const conelab_plan* plan, const conelab_tensor* inputs,
                                            size_t input_count, const conelab_tensor* results,
                                            size_t result_count, const conelab_run* run);
/// Computes a rectangle of a map into `out` [rows x columns] of CONELAB_F64 for a call of that
/// type, else of CONELAB_F32. Weights of a softmax over keys need "lse" among the inputs; otherwise
/// they cost a forward pass.
CONELAB_API conelab_status conelab_map_tile(const conelab_plan* plan, const conelab_tensor* inputs,
                                            size_t input_count, conelab_map map,
                                            const conelab_tile* tile, const conelab_tensor* out,
                                            const conelab_run* run);

#ifdef __cplusplus
}
#endif
