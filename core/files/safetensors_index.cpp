// A model in several .safetensors files as one source of tensors: model.safetensors.index.json maps
// the name of each tensor to its file, {"weight_map": {"q": "model-00001-of-00002.safetensors"}}.
//
// The files lie beside the index; a name that leads to another folder is refused. Each is opened
// when the first of its tensors is asked for. The SHA-256 of such an input is that of the index.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/files/byte_file.h"
#include "core/files/json_reader.h"
#include "core/files/tensor_source.h"
#include "core/files/text.h"

namespace conelab {
namespace {

using nlohmann::json;

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

std::unique_ptr<TensorSource> open_safetensors_index(const std::string& path,
                                                     const SourceRules& rules) {
  return std::make_unique<ShardedSource>(path, rules);
}

}  // namespace conelab
