/* ebb: compiles ONNX models. The C interface on top of ebb.h; its ABI is
 * stable.
 *
 *   ebb_program* program = NULL;
 *   ebb_error* error = ebb_compile_file("model.onnx", NULL, NULL, &program);
 *
 * or, once, on the machine that builds:
 *
 *   ebb_error* error = ebb_compile_to_file("model.onnx", NULL, "model.ebb");
 *
 * Errors and struct_size are as in ebb.h. All functions may be called from any
 * thread, also at the same time. */
#ifndef EBB_EBB_COMPILER_H_
#define EBB_EBB_COMPILER_H_

#include "vm/ebb.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the caller says of an input's dims: low == high is a fixed size, low <
 * high a range; high < 0: no upper bound. */
typedef struct ebb_dim_bound {
  int64_t low;
  int64_t high;
} ebb_dim_bound;

typedef struct ebb_shape {
  const char* input;
  const ebb_dim_bound* dims;
  size_t rank;
} ebb_shape;

typedef struct ebb_compile_options {
  size_t struct_size;
  /* Shapes of inputs, in place of what the model leaves open. */
  const ebb_shape* shapes;
  size_t shape_count;
  /* Outputs to keep, in this order; none: all of the model's. */
  const char* const* outputs;
  size_t output_count;
  int32_t
      backend; /* An ebb_backend: the kernels that weights are packed for. */
  int32_t threads; /* Of the sessions to come; 0: 1. */
  /* 1 switches a step off: kills (everything lives to the end of the run),
   * folding, common subexpressions, packing of weights. */
  int32_t no_kill;
  int32_t no_fold;
  int32_t no_cse;
  int32_t no_pack;
  /* Called before each step on the calling thread; NULL: nobody is told. */
  void (*progress)(void* user, const char* step, size_t index, size_t count);
  void* progress_user;
} ebb_compile_options;

/* Compiles a model (.onnx, or the text form .ir) and loads the result. `load`
 * is as for ebb_program_load_file. Weights are copied to aligned memory one at
 * a time; the model's file may go afterwards unless it has external data. */
EBB_API ebb_error* ebb_compile_file(const char* path,
                                    const ebb_compile_options* options,
                                    const ebb_load_options* load,
                                    ebb_program** program);

/* The same for a model in memory, which must outlive the program. `folder` is
 * where its external data lies; NULL: it has none. */
EBB_API ebb_error* ebb_compile_bytes(const void* bytes, size_t size,
                                     const char* folder,
                                     const ebb_compile_options* options,
                                     const ebb_load_options* load,
                                     ebb_program** program);

/* Compiles and writes a .ebb file. On an error no file is left behind, and one
 * that was there is unchanged. */
EBB_API ebb_error* ebb_compile_to_file(const char* path,
                                       const ebb_compile_options* options,
                                       const char* output_path);

#ifdef __cplusplus
}
#endif

#endif /* EBB_EBB_COMPILER_H_ */
