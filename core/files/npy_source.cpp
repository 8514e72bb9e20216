// .npy files as a source of tensors: the names of arrays are paths.
#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/files/byte_file.h"
#include "core/files/npy_header.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

NpyHeader header_of(const ByteFile& file) {
  NpyHeader header = parse_npy_header(file.peek(0, most_npy_prefix), file.size(), file.path());
  check_not_truncated(file.path(), header.data_offset + header.data_bytes(), file.size());
  if (header.data_offset + header.data_bytes() < file.size()) {
    fail("{}: has bytes after its numbers (expected {} bytes, found {})", file.path(),
         header.data_offset + header.data_bytes(), file.size());
  }
  return header;
}

class NpySource : public TensorSource {
 public:
  explicit NpySource(SourceRules rules) : rules_(std::move(rules)) {}

  std::string place(const std::string& name) const override { return name; }
  std::vector<std::string> names() override { return {}; }

  std::optional<DeclaredArray> find(const std::string& name) override {
    const NpyHeader header = header_of(ByteFile(name, rules_.cancelled));
    return DeclaredArray{name, header.element, header.type(), header.extents};
  }

  void read(const DeclaredArray& array, void* numbers) override {
    const ByteFile file(array.name, rules_.cancelled);
    const NpyHeader header = header_of(file);
    file.read(header.data_offset, numbers, array.bytes());
    normalise_npy(header, numbers);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    const ByteFile file(array.name, rules_.cancelled);
    const NpyHeader header = header_of(file);
    return npy_strings(header, file.read(header.data_offset, header.data_bytes()), file.path());
  }

  std::optional<AttributeValue> attribute(const std::string&) override { return {}; }

 private:
  SourceRules rules_;
};

class SourceWithNpyFiles : public TensorSource {
 public:
  SourceWithNpyFiles(std::unique_ptr<TensorSource> source, const SourceRules& rules)
      : source_(std::move(source)), files_(rules) {}

  std::string place(const std::string& name) const override {
    return is_file(name) ? files_.place(name) : source_->place(name);
  }
  std::vector<std::string> names() override { return source_->names(); }
  std::optional<DeclaredArray> find(const std::string& name) override {
    return of(name).find(name);
  }
  void read(const DeclaredArray& array, void* numbers) override {
    of(array.name).read(array, numbers);
  }
  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    return of(array.name).read_strings(array);
  }
  std::optional<AttributeValue> attribute(const std::string& name) override {
    return source_->attribute(name);
  }
  std::string result_kind() override { return source_->result_kind(); }
  std::string hint(const std::string& name) override { return source_->hint(name); }

 private:
  std::unique_ptr<TensorSource> source_;
  NpySource files_;

  static bool is_file(const std::string& name) {
    std::error_code none;
    return name.ends_with(".npy") && std::filesystem::is_regular_file(name, none);
  }
  TensorSource& of(const std::string& name) { return is_file(name) ? files_ : *source_; }
};

}  // namespace

std::unique_ptr<TensorSource> open_npy_source(const SourceRules& rules) {
  return std::make_unique<NpySource>(rules);
}

std::unique_ptr<TensorSource> with_npy_files(std::unique_ptr<TensorSource> source,
                                             const SourceRules& rules) {
  return std::make_unique<SourceWithNpyFiles>(std::move(source), rules);
}

}  // namespace conelab
