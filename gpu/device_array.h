// Owners of device memory. All functions throw as CONELAB_CUDA does.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "gpu/check.h"

namespace conelab::gpu {

/// Owns `size` bytes of device memory; 0 bytes are a null pointer. It can be moved, not copied.
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

/// Owns all device memory of one call and frees it together.
class DeviceArena {
 public:
  /// Returns a device copy of `array`, or null if it is empty.
  template <class T>
  const T* upload(const std::vector<T>& array) {
    T* data = reserve<T>(array.size());
    if (data != nullptr) {
      CONELAB_CUDA(
          cudaMemcpy(data, array.data(), array.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    return data;
  }

  /// Returns memory for `count` numbers, all bytes 0xff. A float of these bytes is NaN, so that a
  /// number that no kernel wrote is found. Returns null if `count` is 0.
  template <class T>
  T* reserve(std::size_t count) {
    if (count == 0) return nullptr;
    arrays_.emplace_back(count * sizeof(T));
    bytes_ += count * sizeof(T);
    CONELAB_CUDA(cudaMemset(arrays_.back().data(), 0xff, count * sizeof(T)));
    return static_cast<T*>(arrays_.back().data());
  }

  /// Overwrites `copy`, which `upload` returned for an array of the same size, with `array`.
  template <class T>
  void renew(const T* copy, const std::vector<T>& array) {
    if (array.empty()) return;
    CONELAB_CUDA(cudaMemcpy(const_cast<T*>(copy), array.data(), array.size() * sizeof(T),
                            cudaMemcpyHostToDevice));
  }

  /// Returns the bytes of all arrays together.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::vector<DeviceBytes> arrays_;
  std::size_t bytes_ = 0;
};

/// Copies to.size() numbers from device memory into `to`.
template <class T>
void download(const T* from, std::vector<T>& to) {
  if (to.empty()) return;
  CONELAB_CUDA(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

}  // namespace conelab::gpu
