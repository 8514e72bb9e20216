// HDF5 files as a source of tensors.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/utf8.h"
#include "core/files/hdf5_read.h"
#include "core/files/result_kind.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

using hdf5::LinkKind;
using hdf5::ObjectKind;
using hdf5::Where;

/// The search for a group that contains q ends after this number of groups.
constexpr std::size_t most_groups_searched = 2000;
constexpr std::size_t most_groups_named = 6;

class Hdf5Source : public TensorSource {
 public:
  Hdf5Source(const std::string& path, const std::string& group, const SourceRules& rules)
      : rules_{rules.allow_external, rules.before_allocation},
        file_(hdf5::open_file(path)),
        group_{path, hdf5::resolve(file_, group, {path, "/"}, rules_)} {
    if (object_kind(file_, group_) != ObjectKind::group) {
      fail("{}: is not a group (expected one that holds q)", group_.text());
    }
  }

  std::string place(const std::string& name) const override { return group_.child(name).text(); }

  std::vector<std::string> names() override {
    std::vector<std::string> list;
    for (const std::string& name : children(file_, group_)) {
      const Where where = group_.child(name);
      if (hdf5::link_kind(file_, where.path) != LinkKind::hard) continue;
      if (object_kind(file_, where) == ObjectKind::dataset) list.push_back(name);
    }
    return list;
  }

  std::optional<DeclaredArray> find(const std::string& name) override {
    if (hdf5::link_kind(file_, group_.child(name).path) == LinkKind::missing) return {};
    const Where where = resolved(name);
    if (object_kind(file_, where) != ObjectKind::dataset) {
      fail("{}: is not a data set", where.text());
    }
    const hdf5::Dataset dataset = open_dataset(file_, where);
    const hdf5::Stored stored = describe(dataset, where, rules_);
    if (!stored.refused.empty()) fail("{}: {}", where.text(), stored.refused);
    DeclaredArray array{name, stored.element, stored.type, stored.extents};
    // MATLAB names the class of each array, and stores its last axis first.
    if (array.extents.size() > 1 && has_attribute(dataset, "MATLAB_class")) {
      array.order = reversed_axes(array.extents.size());
      std::ranges::reverse(array.extents);
    }
    return array;
  }

  void read(const DeclaredArray& array, void* numbers) override {
    const Where where = resolved(array.name);
    const hdf5::Dataset dataset = open_dataset(file_, where);
    read_numbers(dataset, describe(dataset, where, rules_), numbers, where, rules_);
  }

  void read_rows(const DeclaredArray& array, void* numbers) override {
    if (!array.order.empty()) return TensorSource::read_rows(array, numbers);
    const Where where = resolved(array.name);
    const hdf5::Dataset dataset = open_dataset(file_, where);
    read_numbers(dataset, describe(dataset, where, rules_), numbers, where, rules_, array.rows);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    const Where where = resolved(array.name);
    const hdf5::Dataset dataset = open_dataset(file_, where);
    return hdf5::read_strings(dataset, describe(dataset, where, rules_), where, rules_);
  }

  std::optional<AttributeValue> attribute(const std::string& name) override {
    for (std::string path = group_.path;; path.resize(path.rfind('/'))) {
      const Where where{group_.file, path.empty() ? "/" : path};
      const hdf5::Object object = open_object(file_, where);
      if (auto value = hdf5::read_attribute(object.id(), name, where)) return value;
      if (path.empty() || path == "/") return {};
    }
  }

  std::string result_kind() override {
    const std::string kind = hdf5::result_kind(file_, group_.file);
    if (kind.empty()) return "";
    const std::string input = input_of_spec(spec_of(has_group("/attention") ? "/attention" : "/"));
    return "a result of " + kind + ", no trace" +
           (input.empty() ? " (expected arrays q, k, v)" : "; computed from " + printable(input));
  }

  std::string hint(const std::string& name) override {
    std::vector<std::string> found;
    std::set<hdf5::ObjectAddress> visited;
    // The gradients in a result of attend have the names of the tensors, but the result is not a
    // trace.
    if (hdf5::result_kind(file_, group_.file) == "attend" && has_group("/attention")) {
      visited.insert(object_address(file_, at("/attention")));
    }
    search(group_, name, visited, found);
    if (found.empty()) return "";
    if (found.size() > most_groups_named) found.back() = "...";
    return fmt::format("; groups that hold one: {}", join(found));
  }

 private:
  [[nodiscard]] Where at(const std::string& path) const { return {group_.file, path}; }

  /// link_kind requires that the path before it is that of a group.
  [[nodiscard]] bool has_group(const std::string& path) const {
    return hdf5::link_kind(file_, path) == LinkKind::hard &&
           object_kind(file_, at(path)) == ObjectKind::group;
  }

  [[nodiscard]] std::string spec_of(const std::string& path) const {
    const hdf5::Object object = open_object(file_, at(path));
    const auto value = hdf5::read_attribute(object.id(), "spec", at(path));
    const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
    return text == nullptr ? "" : *text;
  }

  [[nodiscard]] Where resolved(const std::string& name) const {
    const Where child = group_.child(name);
    return {child.file, hdf5::resolve(file_, child.path, child, rules_)};
  }

  static bool has_attribute(const hdf5::Dataset& dataset, const char* name) {
    return H5Aexists(dataset.id(), name) > 0;
  }

  void search(const Where& where, const std::string& name, std::set<hdf5::ObjectAddress>& visited,
              std::vector<std::string>& found) {
    if (found.size() > most_groups_named || visited.size() > most_groups_searched) return;
    if (!visited.insert(object_address(file_, where)).second) return;
    for (const std::string& child : children(file_, where)) {
      const Where here = where.child(child);
      if (hdf5::link_kind(file_, here.path) != LinkKind::hard) continue;
      if (child == name) found.push_back(printable(where.path));
      if (object_kind(file_, here) == ObjectKind::group) search(here, name, visited, found);
    }
  }

  hdf5::Lock lock_;
  hdf5::ReadRules rules_;
  hdf5::File file_;
  Where group_;
};

}  // namespace

std::unique_ptr<TensorSource> open_hdf5_source(const std::string& path, const std::string& group,
                                               const SourceRules& rules) {
  return std::make_unique<Hdf5Source>(path, group, rules);
}

}  // namespace conelab
