#include "core/files/file_numbers.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/files/hdf5_read.h"

namespace conelab {

template <class Archive>
void visit(Archive& archive, FileNumbers& found) {
  visit_all(archive, found.seal, found.digest, found.numbers);
}

namespace {

using hdf5::Where;

void add_numbers(const hdf5::File& file, const Where& where, FileNumbers& found) {
  const hdf5::Object object = hdf5::open_object(file, where);
  for (const std::string& name : hdf5::attribute_names(object.id(), where)) {
    const auto same = [&](const auto& known) { return known.first == name; };
    if (name == "conelab_format" || std::ranges::any_of(found.numbers, same)) continue;
    const auto value = hdf5::read_attribute(object.id(), name, where);
    if (!value) continue;
    if (const auto* real = std::get_if<double>(&*value)) found.numbers.emplace_back(name, *real);
    if (const auto* whole = std::get_if<std::int64_t>(&*value)) {
      found.numbers.emplace_back(name, static_cast<double>(*whole));
    }
  }
}

std::string stated_digest(const hdf5::File& file, const std::string& path) {
  const Where where = Where{path, "/"}.child(hdf5::seal_name);
  const hdf5::Dataset dataset = hdf5::open_dataset(file, where);
  const hdf5::Stored stored = hdf5::describe(dataset, where, {});
  std::vector<std::uint8_t> bytes(32);
  hdf5::read_numbers(dataset, stored, bytes.data(), where, {});
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

FileNumbers numbers_of_file(const std::string& path) {
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::open_file(path);
  FileNumbers found;
  found.seal = hdf5::check_seal(file, path);
  if (found.seal != hdf5::Seal::none) found.digest = stated_digest(file, path);
  const Where root{path, "/"};
  add_numbers(file, root, found);
  for (const std::string& name : hdf5::children(file, root)) {
    const Where child = root.child(name);
    if (hdf5::link_kind(file, child.path) != hdf5::LinkKind::hard) continue;
    if (hdf5::object_kind(file, child) == hdf5::ObjectKind::group) add_numbers(file, child, found);
  }
  return found;
}

}  // namespace

FileNumbers read_file_numbers(const std::string& path, const SandboxLimits& limits) {
  FileNumbers found;
  run_sandboxed(
      path, limits,
      [&](ArchiveWriter& writer) {
        found = numbers_of_file(path);
        visit(writer, found);
      },
      [&](ArchiveReader& reader) { visit(reader, found); });
  return found;
}

}  // namespace conelab
