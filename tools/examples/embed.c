/* Runs a compiled model from C: loads the file given, sets every input to
 * ones, runs, and prints the outputs and the memory that it took.
 *
 *   ebb compile model.onnx -o model.ebb && embed_c model.ebb */
#include <ebb/ebb.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INPUTS 64
#define MAX_RANK 16
#define SHOWN 4

/* Memory of one input: it must live until the run has returned. */
typedef struct input {
  int64_t dims[MAX_RANK];
  void* data;
} input;

/* Prints what happened, if anything did, and says whether to go on. */
static int succeeded(ebb_error* error) {
  if (error == NULL) return 1;
  fprintf(stderr, "embed: %s (%s)\n", ebb_error_message(error),
          ebb_code_name(ebb_error_code(error)));
  ebb_error_release(error);
  return 0;
}

static size_t element_count(const int64_t* dims, int32_t rank) {
  size_t count = 1;
  for (int32_t i = 0; i < rank; ++i) count *= (size_t)dims[i];
  return count;
}

/* A buffer of ones, or NULL for an element type that has none here. */
static void* make_ones(int32_t dtype, size_t count) {
  void* data = calloc(count + 1, (size_t)(ebb_dtype_bits(dtype) + 7) / 8);
  for (size_t i = 0; data != NULL && i < count; ++i) {
    switch (dtype) {
      case EBB_F32:
        ((float*)data)[i] = 1;
        break;
      case EBB_F64:
        ((double*)data)[i] = 1;
        break;
      case EBB_I64:
        ((int64_t*)data)[i] = 1;
        break;
      case EBB_I32:
        ((int32_t*)data)[i] = 1;
        break;
      case EBB_I8:
      case EBB_U8:
      case EBB_BOOL:
        ((uint8_t*)data)[i] = 1;
        break;
      default:
        free(data);
        return NULL;
    }
  }
  return data;
}

/* Describes the input's memory to the session, which uses it in place. */
static int set_ones(ebb_program* program, ebb_session* session, size_t index,
                    input* in) {
  ebb_info info = {.struct_size = sizeof(info)};
  if (!succeeded(ebb_program_input_info(program, index, &info))) return 0;
  if (info.is_optional) return 1; /* Its default is used. */
  if (info.kind != EBB_KIND_TENSOR || info.rank < 0 || info.rank > MAX_RANK) {
    fprintf(stderr, "embed: input \"%s\" is not a ranked tensor\n", info.name);
    return 0;
  }
  /* Dims that the model leaves open are 1 here. */
  for (int32_t i = 0; i < info.rank; ++i) {
    in->dims[i] = info.dims[i] < 0 ? 1 : info.dims[i];
  }
  in->data = make_ones(info.dtype, element_count(in->dims, info.rank));
  if (in->data == NULL) {
    fprintf(stderr, "embed: input \"%s\": no ones of dtype %s\n", info.name,
            ebb_dtype_name(info.dtype));
    return 0;
  }
  const ebb_tensor tensor = {.dtype = info.dtype,
                             .rank = info.rank,
                             .dims = in->dims,
                             .data = in->data};
  return succeeded(ebb_session_set_input(session, index, &tensor));
}

static int print_output(ebb_program* program, ebb_session* session,
                        size_t index) {
  ebb_info info = {.struct_size = sizeof(info)};
  ebb_tensor tensor;
  if (!succeeded(ebb_program_output_info(program, index, &info))) return 0;
  if (!succeeded(ebb_session_output(session, index, &tensor))) return 0;
  printf("%s: %s[", info.name, ebb_dtype_name(tensor.dtype));
  for (int32_t i = 0; i < tensor.rank; ++i) {
    printf("%s%" PRId64, i == 0 ? "" : ",", tensor.dims[i]);
  }
  printf("]");
  const size_t count = element_count(tensor.dims, tensor.rank);
  for (size_t i = 0; i < count && i < SHOWN; ++i) {
    if (tensor.dtype == EBB_F32) printf(" %g", ((float*)tensor.data)[i]);
    if (tensor.dtype == EBB_I64) {
      printf(" %" PRId64, ((int64_t*)tensor.data)[i]);
    }
  }
  printf(count > SHOWN ? " ...\n" : "\n");
  return 1;
}

static int run(ebb_program* program, ebb_session* session, input* inputs) {
  for (size_t i = 0; i < ebb_program_input_count(program); ++i) {
    if (!set_ones(program, session, i, &inputs[i])) return 0;
  }
  if (!succeeded(ebb_session_run(session))) return 0;
  for (size_t i = 0; i < ebb_program_output_count(program); ++i) {
    if (!print_output(program, session, i)) return 0;
  }
  ebb_stats stats = {.struct_size = sizeof(stats)};
  if (!succeeded(ebb_session_stats(session, &stats))) return 0;
  printf("memory peak: %" PRIu64 " bytes, weights: %" PRIu64 " bytes\n",
         stats.run_live_high_water_bytes,
         stats.weight_in_place_bytes + stats.weight_owned_bytes);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: embed MODEL.ebb\n");
    return 2;
  }
  ebb_program* program = NULL;
  ebb_session* session = NULL;
  input inputs[MAX_INPUTS];
  memset(inputs, 0, sizeof(inputs));

  int ok = succeeded(ebb_program_load_file(argv[1], NULL, &program));
  if (ok && ebb_program_input_count(program) > MAX_INPUTS) {
    fprintf(stderr, "embed: more than %d inputs\n", MAX_INPUTS);
    ok = 0;
  }
  /* No options: one thread, the pool, no limit. */
  ok = ok && succeeded(ebb_session_create(program, NULL, &session));
  ok = ok && run(program, session, inputs);

  ebb_session_release(session);
  ebb_program_release(program);
  for (size_t i = 0; i < MAX_INPUTS; ++i) free(inputs[i].data);
  return ok ? 0 : 1;
}
