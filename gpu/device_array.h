// Arrays in device memory, owned.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "gpu/check.h"

namespace conelab::gpu {

class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::size_t size) : size_(size) {
    if (size > 0) CONELAB_CUDA(cudaMalloc(&data_, size));
  }
  ~DeviceBytes() { (void)cudaFree(data_); }
  DeviceBytes(DeviceBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBytes& operator=(DeviceBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Device memory of one call, freed together.
class DeviceArena {
 public:
  /// A copy of `array`; null where it is empty.
  template <class T>
  const T* upload(const std::vector<T>& array) {
    T* data = reserve<T>(array.size());
    if (data != nullptr) {
      CONELAB_CUDA(
          cudaMemcpy(data, array.data(), array.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    return data;
  }

  /// `count` numbers whose bytes are all ones: NaN, so that what no kernel writes shows.
  template <class T>
  T* reserve(std::size_t count) {
    if (count == 0) return nullptr;
    arrays_.emplace_back(count * sizeof(T));
    bytes_ += count * sizeof(T);
    CONELAB_CUDA(cudaMemset(arrays_.back().data(), 0xff, count * sizeof(T)));
    return static_cast<T*>(arrays_.back().data());
  }

  /// Writes `array` over an earlier copy of as many numbers.
  template <class T>
  void renew(const T* copy, const std::vector<T>& array) {
    if (array.empty()) return;
    CONELAB_CUDA(cudaMemcpy(const_cast<T*>(copy), array.data(), array.size() * sizeof(T),
                            cudaMemcpyHostToDevice));
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<DeviceBytes> arrays_;
  std::size_t bytes_ = 0;
};

template <class T>
void download(const T* from, std::vector<T>& to) {
  if (to.empty()) return;
  CONELAB_CUDA(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

}  // namespace conelab::gpu
