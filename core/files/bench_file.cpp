#include "core/files/bench_file.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/files/hdf5_read.h"
#include "core/files/hdf5_write.h"
#include "core/files/seal.h"
#include "core/files/tensor_write.h"

namespace conelab {
namespace {

using hdf5::Where;

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Attributes of the root, which are the same in every file.
const std::set<std::string> own_attributes = {"NX_class", "default", "conelab_format"};

void create_parents(const hdf5::File& file, const std::string& path, std::set<std::string>& made,
                    const std::string& shown) {
  std::vector<std::string> above = hdf5::prefixes(path);
  for (std::size_t i = 0; i + 1 < above.size(); ++i) {
    if (!made.insert(above[i]).second) continue;
    const Where where{shown, above[i]};
    hdf5::Group group = create_group(file.id(), above[i], where);
    write_attribute(group.id(), "NX_class", "NXentry", where);
    write_attribute(group.id(), "default", last_part(above[i + 1]), where);
    group.close(where);
  }
}

void write_groups(const hdf5::File& opened, const LabelledFile& file, const std::string& shown) {
  std::set<std::string> made;
  for (const auto& [path, array] : file.groups) {
    create_parents(opened, path, made, shown);
    const Where where{shown, "/" + path};
    if (!made.insert(where.path).second) fail("{}: written twice", where.text());
    hdf5::Group group = create_group(opened.id(), where.path, where);
    write_labelled_group(group.id(), array, where);
    group.close(where);
  }
}

void write_tensors(const hdf5::File& opened, const std::vector<RootTensor>& tensors,
                   const std::string& shown) {
  for (const RootTensor& tensor : tensors) {
    const Where where{shown, "/" + tensor.name};
    const std::vector<hsize_t> extents(tensor.extents.begin(), tensor.extents.end());
    hdf5::Dataset dataset =
        create_tensor(opened.id(), tensor.name, tensor.dtype, extents, {}, where);
    write_tensor(dataset, tensor.dtype, tensor.numbers.data(), tensor.numbers.size(), {}, where);
    dataset.close(where);
  }
}

/// Visits groups depth first. It follows hard links only, so that a cycle of soft links does no
/// harm, and visits each address once.
void read_groups(const hdf5::File& file, const Where& where, std::set<hdf5::ObjectAddress>& visited,
                 LabelledFile& result) {
  if (!visited.insert(object_address(file, where)).second) return;
  LabelledArray array = read_labelled_group(file, where);
  if (!array.variables.empty()) result.groups.emplace_back(where.path.substr(1), std::move(array));
  for (const std::string& name : children(file, where)) {
    const Where child = where.child(name);
    if (hdf5::link_kind(file, child.path) != hdf5::LinkKind::hard) continue;
    if (object_kind(file, child) == hdf5::ObjectKind::group) {
      read_groups(file, child, visited, result);
    }
  }
}

}  // namespace

const LabelledArray* LabelledFile::group(const std::string& path) const {
  const auto found =
      std::ranges::find_if(groups, [&](const auto& entry) { return entry.first == path; });
  return found == groups.end() ? nullptr : &found->second;
}

void write_labelled(const std::string& path, const LabelledFile& file) {
  const std::string first = file.groups.empty() ? "" : file.groups.front().first;
  const hdf5::RootFacts root{first.substr(0, first.find('/')), file.creator, file.attributes};
  hdf5::write_sealed(path, root, [&](const hdf5::File& opened) {
    write_tensors(opened, file.tensors, path);
    write_groups(opened, file, path);
  });
}

LabelledArray read_labelled(const std::string& path, const std::string& group) {
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::open_file(path);
  const Where where{path, hdf5::resolve(file, group, {path, "/"}, {})};
  if (object_kind(file, where) != hdf5::ObjectKind::group) {
    fail("{}: is not a group", where.text());
  }
  return read_labelled_group(file, where);
}

std::optional<LabelledArray> find_labelled(const std::string& path, const std::string& group) {
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::open_file(path);
  Where where{path, "/"};
  for (const std::string& prefix : hdf5::prefixes(group)) {
    const Where child = where.child(last_part(prefix));
    if (object_kind(file, where) != hdf5::ObjectKind::group) return {};
    if (hdf5::link_kind(file, child.path) == hdf5::LinkKind::missing) return {};
    where.path = hdf5::resolve(file, child.path, child, {});
  }
  if (object_kind(file, where) != hdf5::ObjectKind::group) return {};
  return read_labelled_group(file, where);
}

LabelledFile read_labelled_file(const std::string& path) {
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::open_file(path);
  const Where root{path, "/"};
  LabelledFile result;
  result.changed = hdf5::check_seal(file, path) == hdf5::Seal::broken;
  const hdf5::Object object = open_object(file, root);
  for (const std::string& name : hdf5::attribute_names(object.id(), root)) {
    const auto value = hdf5::read_attribute(object.id(), name, root);
    if (!value || own_attributes.contains(name)) continue;
    const auto* text = std::get_if<std::string>(&*value);
    if (name != "creator") {
      result.attributes.emplace_back(name, *value);
    } else if (text != nullptr) {
      result.creator = *text;
    }
  }
  std::set<hdf5::ObjectAddress> visited;
  read_groups(file, root, visited, result);
  return result;
}

}  // namespace conelab
