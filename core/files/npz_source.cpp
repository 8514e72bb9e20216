// .npz archives as a source of tensors.
#include <algorithm>

#include "core/base/error.h"
#include "core/files/npy_header.h"
#include "core/files/tensor_source.h"
#include "core/files/text.h"
#include "core/files/zip_archive.h"

namespace conelab {
namespace {

constexpr std::string_view ending = ".npy";
/// deflate cannot do better than 1 : 1032 (zlib's technical notes).
constexpr std::uint64_t best_deflate = 1032;

class NpzSource : public TensorSource {
 public:
  NpzSource(const std::string& path, const SourceRules& rules)
      : file_(path, rules.cancelled), members_(list_zip(file_)) {}

  std::string place(const std::string& name) const override {
    return fmt::format("{}: {}", file_.path(), name);
  }

  std::vector<std::string> names() override {
    std::vector<std::string> list;
    for (const ZipMember& member : members_) {
      const std::string& name = member.name;
      const bool array = name.size() > ending.size() &&
                         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
      list.push_back(array ? name.substr(0, name.size() - ending.size()) : name);
    }
    return list;
  }

  std::optional<DeclaredArray> find(const std::string& name) override {
    const ZipMember* found = member(name);
    if (found == nullptr) return {};
    const NpyHeader header = header_of(*found);
    return DeclaredArray{name, header.element, header.descr, header.extents};
  }

  void read(const DeclaredArray& array, void* numbers) override {
    const ZipMember& found = *member(array.name);
    const NpyHeader header = header_of(found);
    read_member(file_, found, header.data_offset, numbers, header.data_bytes());
    normalise_npy(header, numbers);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    const ZipMember& found = *member(array.name);
    const NpyHeader header = header_of(found);
    std::string bytes(header.data_bytes(), '\0');
    read_member(file_, found, header.data_offset, bytes.data(), bytes.size());
    return npy_strings(header, bytes, place(array.name));
  }

  std::optional<AttributeValue> attribute(const std::string&) override { return {}; }

 private:
  [[nodiscard]] const ZipMember* member(const std::string& name) const {
    const auto found = std::find_if(members_.begin(), members_.end(), [&](const ZipMember& m) {
      return m.name == name || m.name == name + std::string(ending);
    });
    return found == members_.end() ? nullptr : &*found;
  }

  /// The header, after comparing what it declares with what the archive declares and stores.
  [[nodiscard]] NpyHeader header_of(const ZipMember& found) const {
    const std::string where = place(printable(found.name));
    const std::string prefix =
        peek_member(file_, found, std::min(most_npy_prefix, found.declared_bytes));
    NpyHeader header = parse_npy_header(prefix, prefix.size(), where);
    const std::uint64_t expected = header.data_offset + header.data_bytes();
    if (expected != found.declared_bytes) {
      fail("{}: wrong size (expected {} bytes for {}, found {})", where, expected,
           extents_text(header.extents), found.declared_bytes);
    }
    if (expected / best_deflate > found.stored_bytes) {
      fail("{}: declares {} bytes, but only {} are stored", where, expected, found.stored_bytes);
    }
    return header;
  }

  ByteFile file_;
  std::vector<ZipMember> members_;
};

}  // namespace

std::unique_ptr<TensorSource> open_npz_source(const std::string& path, const SourceRules& rules) {
  return std::make_unique<NpzSource>(path, rules);
}

}  // namespace conelab
