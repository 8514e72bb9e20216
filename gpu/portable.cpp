#include "gpu/portable.h"

#include "gpu/check.h"
#include "gpu/tensor_call.h"
#include "gpu/tile/visit_similarity.h"

namespace conelab::gpu {

PortableKernels portable_kernels(int index) {
  PortableKernels found;
  visit_similarity(index,
                   [&](auto tag) { found = portable_kernels_of<typename decltype(tag)::type>(); });
  return found;
}

void launch(const TensorPlan<float>& plan, Pass pass, const TensorCall<float>& call, int device,
            void* stream) {
  const PortableKernels kernels = portable_kernels(plan.similarity());
  int before = 0;
  CONELAB_CUDA(cudaGetDevice(&before));
  CONELAB_CUDA(cudaSetDevice(device));
  (pass == Pass::forward ? kernels.tensor_forward : kernels.tensor_gradient)(call, stream);
  const cudaError_t status = cudaGetLastError();
  CONELAB_CUDA(cudaSetDevice(before));
  CONELAB_CUDA(status);
}

}  // namespace conelab::gpu
