// The source of one input: what a file, or a group of it, holds under the names that are read.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/files/read_tensors.h"
#include "core/files/tensor_source.h"

namespace conelab {

/// The arrays of a source whose names begin with a prefix: "q" is the array "layer3/q". The path of
/// an existing .npy file, which may be next to the source, names that file. It computes the digest
/// of what is read.
class NamedSource final : public TensorSource {
 public:
  NamedSource(std::unique_ptr<TensorSource> all, std::string prefix, const SourceRules& rules)
      : all_(std::move(all)), prefix_(std::move(prefix)), files_(open_npy_source(rules)) {}

  std::string place(const std::string& name) const override { return of(name).place(whole(name)); }
  std::vector<std::string> names() override;
  std::optional<DeclaredArray> find(const std::string& name) override {
    std::optional<DeclaredArray> array = of(name).find(whole(name));
    if (array) array->name = name;
    return array;
  }
  void read(const DeclaredArray& array, void* numbers) override;
  std::vector<std::string> read_strings(const DeclaredArray& array) override;
  std::optional<AttributeValue> attribute(const std::string& name) override {
    return all_->attribute(name);
  }
  std::string result_kind() override { return all_->result_kind(); }
  std::string hint(const std::string& name) override { return all_->hint(name); }

  /// Returns the digest that Input::sha256 describes.
  [[nodiscard]] std::string digest() const;

 private:
  std::unique_ptr<TensorSource> all_;
  std::string prefix_;
  std::unique_ptr<TensorSource> files_;
  std::map<std::string, std::string> digests_;  ///< Of each array that was read.

  static bool is_file(const std::string& name);
  [[nodiscard]] TensorSource& of(const std::string& name) const {
    return is_file(name) ? *files_ : *all_;
  }
  [[nodiscard]] std::string whole(const std::string& name) const {
    return is_file(name) ? name : prefix_ + name;
  }
  [[nodiscard]] DeclaredArray with_whole_name(DeclaredArray array) const {
    array.name = whole(array.name);
    return array;
  }
};

/// Opens a file, or, with a group such as "/layer3" of an archive, those of its arrays whose names
/// begin with "layer3/", or if there are none, with "layer3.".
[[nodiscard]] std::unique_ptr<NamedSource> open_source(const InputSpec& spec, FileFormat format,
                                                       const SourceRules& rules);

}  // namespace conelab
