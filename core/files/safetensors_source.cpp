// .safetensors files as a source of tensors.
//
//   header length (8 bytes, little endian)  JSON header  numbers
//
// The header maps names to {"dtype", "shape", "data_offsets": [begin, end]}. The ranges must cover
// the numbers exactly, without holes and overlap, as the parser of the format requires. Names are
// listed in the order of their bytes.
#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"
#include "core/files/json_reader.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

using nlohmann::json;

constexpr std::uint64_t longest_header = 100'000'000;
constexpr std::uint64_t most_whole = std::numeric_limits<std::int64_t>::max();

struct TensorRange {
  DeclaredArray array;
  std::uint64_t begin = 0, end = 0;  ///< Relative to the first byte of the numbers.
};

Element element_of_dtype(const std::string& dtype) {
  if (dtype == "BF16") return Element::bf16;
  if (dtype == "BOOL") return Element::boolean;
  for (const char* kind : {"Ff", "Ii", "Uu"}) {
    for (const std::size_t bytes : {1, 2, 4, 8}) {
      if (dtype == fmt::format("{}{}", kind[0], 8 * bytes)) return element_of(kind[1], bytes);
    }
  }
  return Element::other;
}

/// Returns the member `key` of a tensor's description: a list of whole numbers from 0 to 2^63 - 1.
std::vector<std::int64_t> whole_numbers(const json& tensor, const char* key,
                                        const std::string& place) {
  const auto list = tensor.find(key);
  if (list == tensor.end() || !list->is_array()) {
    fail("{}: malformed header (expected a list {})", place, key);
  }
  std::vector<std::int64_t> numbers;
  for (const json& item : *list) {
    // nlohmann-json represents whole numbers that are not negative as unsigned. A number beyond 64
    // bits is not a whole number to it.
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > most_whole) {
      fail("{}: malformed header (expected whole numbers in {})", place, key);
    }
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

TensorRange parse_tensor(const std::string& name, const json& value, const std::string& place) {
  const auto dtype = value.find("dtype");
  if (dtype == value.end() || !dtype->is_string()) {
    fail("{}: malformed header (expected a string dtype)", place);
  }
  const std::vector<std::int64_t> offsets = whole_numbers(value, "data_offsets", place);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fail("{}: malformed header (expected data_offsets [begin, end], found {})", place,
         extents_text(offsets));
  }
  const auto& type = dtype->get_ref<const std::string&>();
  TensorRange range;
  range.array = {name, element_of_dtype(type),
                 printable(type) + (type.starts_with("F8") ? " (float8 is not supported)" : ""),
                 whole_numbers(value, "shape", place)};
  range.begin = static_cast<std::uint64_t>(offsets[0]);
  range.end = static_cast<std::uint64_t>(offsets[1]);
  return range;
}

void check_size(const TensorRange& range, const std::string& place) {
  const std::optional<std::int64_t> count = checked_product(range.array.extents);
  const std::size_t item = element_size(range.array.element);
  if (!count || static_cast<std::uint64_t>(*count) > (std::uint64_t{1} << 59)) {
    fail("{}: declares an impossible size {}", place, extents_text(range.array.extents));
  }
  if (item != 0 && static_cast<std::uint64_t>(*count) * item != range.end - range.begin) {
    fail("{}: wrong size (expected {} bytes for {} of {}, found {})", place,
         static_cast<std::uint64_t>(*count) * item, extents_text(range.array.extents),
         range.array.type, range.end - range.begin);
  }
}

class SafetensorsSource final : public TensorSource {
 public:
  SafetensorsSource(const std::string& path, const SourceRules& rules)
      : file_(path, rules.cancelled) {
    check_not_truncated(path, 8, file_.size());
    const std::uint64_t length = little_endian(file_.read(0, 8).data(), 8);
    if (length > longest_header) {
      fail("{}: header too long (expected at most {} bytes, found {})", path, longest_header,
           length);
    }
    check_not_truncated(path, 8 + length, file_.size());
    data_offset_ = 8 + length;
    parse_header(parse_json(file_.read(8, length), path));
    check_cover();
  }

  std::string place(const std::string& name) const override {
    return fmt::format("{}: {}", file_.path(), printable(name));
  }

  std::vector<std::string> names() override {
    std::vector<std::string> list;
    for (const TensorRange& range : ranges_) list.push_back(range.array.name);
    return list;
  }

  std::optional<DeclaredArray> find(const std::string& name) override {
    const TensorRange* range = find_range(name);
    return range ? std::optional(range->array) : std::nullopt;
  }

  void read(const DeclaredArray& array, void* numbers) override {
    file_.read(data_offset_ + find_range(array.name)->begin, numbers, array.bytes());
  }

  void read_rows(const DeclaredArray& array, void* numbers) override {
    if (!array.order.empty()) return TensorSource::read_rows(array, numbers);
    file_.read_rows(data_offset_ + find_range(array.name)->begin, array, numbers);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    fail("{}: holds no strings", place(array.name));
  }

  std::optional<AttributeValue> attribute(const std::string& name) override {
    const auto value = metadata_.find(name);
    if (value == metadata_.end() || !value->is_string()) return {};
    return AttributeValue(value->get<std::string>());
  }

 private:
  [[nodiscard]] const TensorRange* find_range(const std::string& name) const {
    const auto found =
        std::ranges::find_if(ranges_, [&](const TensorRange& r) { return r.array.name == name; });
    return found == ranges_.end() ? nullptr : &*found;
  }

  void parse_header(const json& header) {
    if (!header.is_object()) fail("{}: malformed header (expected a JSON object)", file_.path());
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        metadata_ = value;
        continue;
      }
      ranges_.push_back(parse_tensor(name, value, place(name)));
      check_size(ranges_.back(), place(name));
    }
    std::ranges::sort(ranges_, [](const TensorRange& a, const TensorRange& b) {
      return std::tie(a.begin, a.end, a.array.name) < std::tie(b.begin, b.end, b.array.name);
    });
  }

  /// Throws a failure unless the ranges follow each other from 0 to the end of the file.
  void check_cover() const {
    std::uint64_t covered = 0;
    for (const TensorRange& range : ranges_) {
      if (range.begin != covered) {
        fail("{}: its bytes {} (expected to begin at {}, found {})", place(range.array.name),
             range.begin < covered ? "overlap others" : "leave a hole", covered, range.begin);
      }
      covered = range.end;
    }
    check_not_truncated(file_.path(), data_offset_ + covered, file_.size());
    if (data_offset_ + covered < file_.size()) {
      fail("{}: has bytes after its tensors (expected {} bytes, found {})", file_.path(),
           data_offset_ + covered, file_.size());
    }
  }

  ByteFile file_;
  std::uint64_t data_offset_ = 0;
  json metadata_;
  std::vector<TensorRange> ranges_;  ///< In the order of their bytes.
};

// A model in several .safetensors files as one source of tensors: model.safetensors.index.json maps
// the name of each tensor to its file, {"weight_map": {"q": "model-00001-of-00002.safetensors"}}.
//
// The files lie beside the index; a name that leads to another folder is refused. Each is opened
// when the first of its tensors is asked for. The SHA-256 of such an input is that of the index.

constexpr std::uint64_t longest_index = 100'000'000;

class ShardedSource final : public TensorSource {
 public:
  ShardedSource(const std::string& path, SourceRules rules)
      : path_(path), rules_(std::move(rules)) {
    const ByteFile file(path, rules_.cancelled);
    if (file.size() > longest_index) {
      fail("{}: too long for an index (expected at most {} bytes, found {})", path, longest_index,
           file.size());
    }
    const json index = parse_json(file.read(0, file.size()), path);
    const auto map = index.is_object() ? index.find("weight_map") : index.end();
    if (map == index.end() || !map->is_object()) {
      fail("{}: malformed index (expected an object weight_map)", path);
    }
    for (const auto& [name, shard] : map->items()) add(name, shard);
  }

  std::string place(const std::string& name) const override {
    const auto found = shard_of_.find(name);
    const std::string file = found == shard_of_.end() ? path_ : beside(found->second);
    return fmt::format("{}: {}", file, printable(name));
  }

  std::vector<std::string> names() override {
    std::vector<std::string> list;
    for (const auto& [name, shard] : shard_of_) list.push_back(name);
    return list;
  }

  std::optional<DeclaredArray> find(const std::string& name) override {
    if (!shard_of_.contains(name)) return {};
    std::optional<DeclaredArray> array = shard(name).find(name);
    if (!array) fail("{}: is not in this file, where {} puts it", place(name), path_);
    return array;
  }

  void read(const DeclaredArray& array, void* numbers) override {
    shard(array.name).read(array, numbers);
  }
  void read_rows(const DeclaredArray& array, void* numbers) override {
    shard(array.name).read_rows(array, numbers);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    return shard(array.name).read_strings(array);
  }

  std::optional<AttributeValue> attribute(const std::string& name) override {
    return shard_of_.empty() ? std::nullopt : shard(shard_of_.begin()->first).attribute(name);
  }

 private:
  std::string path_;
  SourceRules rules_;
  std::map<std::string, std::string> shard_of_;  ///< The file of each tensor.
  std::map<std::string, std::unique_ptr<TensorSource>> shards_;

  void add(const std::string& name, const json& file) {
    const std::string shard = file.is_string() ? file.get<std::string>() : "";
    if (!shard.ends_with(".safetensors") || shard.find('/') != std::string::npos) {
      fail("{}: malformed index (expected a .safetensors file beside it for {})", path_,
           printable(name));
    }
    shard_of_.emplace(name, shard);
  }

  [[nodiscard]] std::string beside(const std::string& file) const {
    return (std::filesystem::path(path_).parent_path() / file).string();
  }

  TensorSource& shard(const std::string& name) {
    const std::string& file = shard_of_.at(name);
    std::unique_ptr<TensorSource>& opened = shards_[file];
    if (!opened) opened = open_safetensors_source(beside(file), rules_);
    return *opened;
  }
};

}  // namespace

std::unique_ptr<TensorSource> open_safetensors_source(const std::string& path,
                                                      const SourceRules& rules) {
  if (path.ends_with(safetensors_index)) return std::make_unique<ShardedSource>(path, rules);
  return std::make_unique<SafetensorsSource>(path, rules);
}

}  // namespace conelab
