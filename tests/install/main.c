// The same in C.
#include <conelab.h>
#include <stdio.h>

int main(void) {
  double q[] = {0.5, 0.5, 0.5, 0.5}, out[4] = {0};
  const int64_t sizes[] = {2, 2}, strides[] = {2, 1};
  const conelab_tensor input = {"q", q, CONELAB_F64, 2, sizes, strides};
  const conelab_tensor result = {"output", out, CONELAB_F64, 2, sizes, strides};
  conelab_plan* plan = NULL;
  if (conelab_prepare("penumbral", &input, 1, &plan) != CONELAB_OK ||
      conelab_forward(plan, &input, 1, &result, 1, NULL) != CONELAB_OK) {
    fprintf(stderr, "%s\n", conelab_error());
    return 1;
  }
  printf("%g\n", out[0]);
  conelab_release(plan);
  return 0;
}
