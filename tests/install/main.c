// The C header compiles as C and the library links into a C program.
#include <ebb/ebb.h>
#include <stdio.h>

int main(void) {
  printf("%s\n", ebb_version());
  return 0;
}
