#include "core/files/named_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/base/sha256.h"

namespace conelab {

std::vector<std::string> NamedSource::names() {
  std::vector<std::string> inside;
  for (const std::string& name : all_->names()) {
    if (name.starts_with(prefix_)) inside.push_back(name.substr(prefix_.size()));
  }
  return inside;
}

void NamedSource::read(const DeclaredArray& array, void* numbers) {
  const DeclaredArray named = with_whole_name(array);
  array.rows.empty() ? of(array.name).read(named, numbers)
                     : of(array.name).read_rows(named, numbers);
  digests_[array.name] = sha256({static_cast<const char*>(numbers), array.bytes()});
}

std::vector<std::string> NamedSource::read_strings(const DeclaredArray& array) {
  std::vector<std::string> texts = of(array.name).read_strings(with_whole_name(array));
  Sha256 sum;
  for (const std::string& text : texts) sum.update(text.c_str(), text.size() + 1);
  digests_[array.name] = sum.hex();
  return texts;
}

std::string NamedSource::digest() const {
  std::string lines;
  for (const auto& [name, digest] : digests_) {
    lines += (is_file(name) ? name.substr(name.rfind('/') + 1) : name) + " " + digest + "\n";
  }
  return sha256(lines);
}

bool NamedSource::is_file(const std::string& name) {
  std::error_code none;
  return name.ends_with(".npy") && std::filesystem::is_regular_file(name, none);
}

std::unique_ptr<NamedSource> open_source(const InputSpec& spec, FileFormat format,
                                         const SourceRules& rules) {
  if (format == FileFormat::npy && !spec.group.empty()) {
    fail("{}: has no groups (expected no ':{}' after a .npy file)", spec.path, spec.group);
  }
  if (format == FileFormat::npy || format == FileFormat::hdf5) {
    auto one = format == FileFormat::npy ? open_npy_source(rules)
                                         : open_hdf5_source(spec.path, spec.group, rules);
    return std::make_unique<NamedSource>(std::move(one), "", rules);
  }
  std::unique_ptr<TensorSource> all = format == FileFormat::npz
                                          ? open_npz_source(spec.path, rules)
                                          : open_safetensors_source(spec.path, rules);
  std::string prefix = spec.group.empty() ? "" : spec.group.substr(1);
  if (!prefix.empty()) {
    const auto holds = [&, names = all->names()](const std::string& beginning) {
      return std::ranges::any_of(names, [&](const auto& n) { return n.starts_with(beginning); });
    };
    prefix += holds(prefix + ".") && !holds(prefix + "/") ? "." : "/";
  }
  return std::make_unique<NamedSource>(std::move(all), prefix, rules);
}

}  // namespace conelab
