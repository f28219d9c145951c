/* The least that runs a model from C. README.md shows it. */
#include <ebb/ebb.h>
#include <stdio.h>

static float pixels[3 * 640 * 640];

int main(int argc, char** argv) {
  const int64_t dims[] = {1, 3, 640, 640};
  const ebb_tensor x = {
      .dtype = EBB_F32, .rank = 4, .dims = dims, .data = pixels};
  ebb_tensor y;
  ebb_program* program = NULL;
  ebb_session* session = NULL;
  ebb_error* error =
      ebb_program_load_file(argc > 1 ? argv[1] : "", NULL, &program);
  if (!error) error = ebb_session_create(program, NULL, &session);
  if (!error) error = ebb_session_set_input(session, 0, &x); /* Not copied. */
  if (!error) error = ebb_session_run(session);
  if (!error) error = ebb_session_output(session, 0, &y); /* Nor is this. */
  if (!error) printf("%g\n", ((const float*)y.data)[0]);
  if (error) fprintf(stderr, "%s\n", ebb_error_message(error));
  const int code = error == NULL ? 0 : 1;
  ebb_error_release(error);
  ebb_session_release(session);
  ebb_program_release(program);
  return code;
}
