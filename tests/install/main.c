// The runtime from C: main VERSION [MODEL.ebb]. The model is what compile.c
// makes: y = relu(x), four floats.
#include <ebb/ebb.h>
#include <stdio.h>
#include <string.h>

static int Fail(const char* what, ebb_error* error) {
  fprintf(stderr, "%s: %s\n", what, ebb_error_message(error));
  ebb_error_release(error);
  return 1;
}

static int RunModel(const char* path) {
  ebb_program* program = NULL;
  ebb_session* session = NULL;
  float in[4] = {-1, 2, -3, 4};
  const float expected[4] = {0, 2, 0, 4};
  const int64_t dims[1] = {4};
  ebb_tensor x = {0};
  ebb_tensor y = {0};
  ebb_error* error = ebb_program_load_file(path, NULL, &program);
  int status = 0;
  x.dtype = EBB_F32;
  x.rank = 1;
  x.dims = dims;
  x.data = in;
  if (!error) error = ebb_session_create(program, NULL, &session);
  if (!error) error = ebb_session_set_input_by_name(session, "x", &x);
  if (!error) error = ebb_session_run(session);
  if (!error) error = ebb_session_output(session, 0, &y);
  if (error) {
    status = Fail(path, error);
  } else if (y.rank != 1 || y.dims[0] != 4 ||
             memcmp(y.data, expected, sizeof expected) != 0) {
    fprintf(stderr, "%s: the output is wrong\n", path);
    status = 1;
  }
  ebb_session_release(session);
  ebb_program_release(program);
  return status;
}

int main(int argc, char** argv) {
  ebb_program* program = NULL;
  ebb_error* error = ebb_program_load_bytes("no program", 10, NULL, &program);
  if (argc < 2 || strcmp(ebb_version(), argv[1]) != 0) {
    fprintf(stderr, "this is version %s\n", ebb_version());
    return 1;
  }
  if (ebb_error_code(error) != EBB_INVALID_FILE || program != NULL) {
    return Fail("bytes that are no program", error);
  }
  ebb_error_release(error);
  return argc > 2 ? RunModel(argv[2]) : 0;
}
