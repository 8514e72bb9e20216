#include "core/trace/array_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "core/base/names.h"
#include "core/files/inspect.h"

namespace conelab {
namespace {

bool may_be_tensor(std::size_t rank, std::size_t most, const std::string& type) {
  const auto types = {"f16", "f32", "f64", "bf16"};
  return rank >= 2 && rank <= most && contains(types, type);
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

bool means(const std::string& word, std::size_t role) {
  static const std::array<std::set<std::string>, 3> words = {{{"q", "query", "queries", "qs"},
                                                              {"k", "key", "keys", "ks"},
                                                              {"v", "value", "values", "vs"}}};
  return words[role].contains(word);
}

bool has_word(const NamedArray& array, std::size_t role) {
  const auto words = words_of(array.name);
  return std::ranges::any_of(words, [&](const auto& word) { return means(word, role); });
}

/// Whether `other` is the name of q with the words of a role in the place of those of q.
bool is_twin(const std::string& query, const std::string& other, std::size_t role) {
  const std::vector<std::string> a = words_of(query), b = words_of(other);
  if (a.size() != b.size()) return false;
  bool told = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool here = means(a[i], 0) && means(b[i], role);
    if (!here && a[i] != b[i]) return false;
    told = told || here;
  }
  return told;
}

std::string twin_of(const std::vector<NamedArray>& arrays, const std::string& query,
                    std::size_t role) {
  const auto found = std::ranges::find_if(
      arrays, [&](const NamedArray& array) { return is_twin(query, array.name, role); });
  return found == arrays.end() ? "" : found->name;
}

/// The only array with a word of this role in its name; empty if there are none or several.
std::string only_one_of(const std::vector<NamedArray>& arrays, std::size_t role) {
  std::string found;
  for (const NamedArray& array : arrays) {
    if (!has_word(array, role)) continue;
    if (!found.empty()) return "";
    found = array.name;
  }
  return found;
}

}  // namespace

std::string NamedArray::text() const {
  return fmt::format("{}   {}, {}", name, fmt::join(extents, " × "), type);
}

std::vector<NamedArray> arrays_of(const Inspection& inspection, std::size_t axes) {
  std::vector<NamedArray> arrays;
  for (const InspectedItem& item : inspection.items) {
    if (item.kind == ItemKind::array && may_be_tensor(item.extents.size(), axes, item.type)) {
      arrays.push_back({item.path, item.extents, item.type});
    }
  }
  return arrays;
}

std::vector<NamedArray> arrays_of(const std::string& file, FileFormat format,
                                  const std::function<bool()>& cancelled, std::size_t axes) {
  const SourceRules rules{{}, {}, cancelled};
  const auto source = format == FileFormat::npz ? open_npz_source(file, rules)
                                                : open_safetensors_source(file, rules);
  std::vector<NamedArray> arrays;
  for (const std::string& name : source->names()) {
    const auto array = source->find(name);
    if (!array || !element_dtype(array->element)) continue;
    const char* type = dtype_name(*element_dtype(array->element));
    if (may_be_tensor(array->extents.size(), axes, type))
      arrays.push_back({name, array->extents, type});
  }
  return arrays;
}

ArrayNames guess_arrays(const std::vector<NamedArray>& arrays) {
  if (arrays.empty()) return {};
  const std::string key = only_one_of(arrays, 1), value = only_one_of(arrays, 2);
  auto found =
      std::ranges::find_if(arrays, [](const NamedArray& array) { return has_word(array, 0); });
  if (found == arrays.end()) {
    found = std::ranges::find_if(
        arrays, [&](const NamedArray& array) { return array.name != key && array.name != value; });
  }
  if (found == arrays.end()) found = arrays.begin();
  const auto or_else = [](const std::string& twin, const std::string& other) {
    return twin.empty() ? other : twin;
  };
  return {found->name,
          or_else(twin_of(arrays, found->name, 1), key),
          or_else(twin_of(arrays, found->name, 2), value),
          {},
          ""};
}

std::string array_problem(const std::vector<NamedArray>& arrays, const ArrayNames& names) {
  const NamedArray* q = find_named(arrays, names.query);
  if (q == nullptr) return "Choose the array that is q.";
  const NamedArray* k = names.key.empty() ? q : find_named(arrays, names.key);
  const NamedArray* v = names.value.empty() ? q : find_named(arrays, names.value);
  if (k == nullptr || v == nullptr) return "Choose arrays of this file.";
  const Shape4 sq = shape_of(q->extents), sk = shape_of(k->extents), sv = shape_of(v->extents);
  const auto differ = [](const char* what, std::int64_t a, std::int64_t b) {
    return fmt::format("{} differ: {} against {}.", what, a, b);
  };
  for (const auto& s : {sk, sv}) {
    if (s.batch != sq.batch) return differ("The numbers of batch elements", sq.batch, s.batch);
    if (s.head == 0 || sq.head % s.head != 0)
      return differ("The numbers of heads", sq.head, s.head);
  }
  if (sk.head != sv.head) return differ("The heads of k and v", sk.head, sv.head);
  if (sk.feature != sq.feature) return differ("The features of q and k", sq.feature, sk.feature);
  if (sv.token != sk.token) return differ("The tokens of k and v", sk.token, sv.token);
  return "";
}

GroupedNames within_group(const ArrayNames& paths) {
  const bool archive = !paths.query.starts_with('/');
  // The array "layer0/query" of an archive is "/layer0/query", as in HDF5.
  const auto whole = [&](const std::string& path) {
    return archive && !path.empty() ? "/" + path : path;
  };
  const auto group_of = [&](const std::string& path) {
    return path.substr(0, path.find_last_of(archive ? "/." : "/"));
  };
  const ArrayNames all{whole(paths.query), whole(paths.key), whole(paths.value), {}, ""};
  const std::string group = group_of(all.query);
  const auto inside = [&](const std::string& path) {
    return path.empty() || group_of(path) == group;
  };
  const bool one = inside(all.key) && inside(all.value);
  const std::size_t cut = one ? group.size() + 1 : 1;
  const auto name = [&](const std::string& path) { return path.empty() ? "" : path.substr(cut); };
  return {one ? group : "", {name(all.query), name(all.key), name(all.value), {}, ""}};
}

}  // namespace conelab
