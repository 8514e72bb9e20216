// `conelab inspect FILE`: shows what a file contains, which program wrote it, and whether all its
// numbers can be read.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/inspect.h"
#include "core/files/result_kind.h"
#include "core/job/call_json.h"
#include "core/job/read_result.h"

namespace conelab {
namespace {

/// Longer attributes, such as the specification of a run, are cut in the text. JSON contains them
/// completely.
constexpr std::size_t longest_attribute = 100;
constexpr std::size_t longest_shown_value = 60;

Json attribute_json(const AttributeValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

const char* kind_name(ItemKind kind) {
  return kind == ItemKind::group ? "group" : kind == ItemKind::array ? "array" : "link";
}

Json item_json(const InspectedItem& item) {
  Json json{{"path", item.path}, {"kind", kind_name(item.kind)}};
  if (item.kind != ItemKind::group) json["type"] = item.type;
  if (item.kind == ItemKind::array) {
    json["shape"] = item.extents;
    json["chunk"] = item.chunk;
    json["filters"] = item.filters;
    json["stored_bytes"] = item.stored_bytes;
    json["checksummed"] = item.checksummed;
    if (item.value) json["value"] = attribute_json(*item.value);
    json["nan"] = item.nan_count;
    json["infinite"] = item.infinite_count;
  }
  json["attributes"] = Json::object();
  for (const auto& [name, value] : item.attributes)
    json["attributes"][name] = attribute_json(value);
  json["problem"] = item.problem.empty() ? Json(nullptr) : Json(item.problem);
  json["unread"] = item.unread.empty() ? Json(nullptr) : Json(item.unread);
  return json;
}

/// Returns the kind of a result; empty for any other file.
std::string kind_of(const Inspection& found) {
  return found.items.empty() ? "" : result_kind(found.items.front().attributes);
}

Json inspection_json(const Inspection& found) {
  Json json{{"path", found.path},
            {"format", format_name(found.format)},
            {"bytes", found.file_bytes},
            {"sha256", found.sha256},
            {"creator", found.creator.empty() ? Json(nullptr) : Json(found.creator)},
            {"result", kind_of(found).empty() ? Json(nullptr) : Json(kind_of(found))},
            {"sealed", found.sealed},
            {"unguarded", found.unguarded()},
            {"unread", found.unread()},
            {"sound", found.sound() && found.unread() == 0},
            {"problems", found.problems},
            {"items", Json::array()}};
  for (const InspectedItem& item : found.items) json["items"].push_back(item_json(item));
  return json;
}

/// Returns the value as text. Numbers of single precision and less have as many digits as are
/// needed to tell them apart.
std::string value_text(const InspectedItem& item) {
  if (const auto* text = std::get_if<std::string>(&*item.value)) {
    return fmt::format("\"{}\"", printable(*text, longest_shown_value));
  }
  if (const auto* whole = std::get_if<std::int64_t>(&*item.value)) return fmt::format("{}", *whole);
  if (const auto* large = std::get_if<std::uint64_t>(&*item.value))
    return fmt::format("{}", *large);
  const double number = std::get<double>(*item.value);
  const bool narrow = item.type == "f32" || item.type == "f16" || item.type == "bf16";
  return narrow ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
}

std::string array_text(const InspectedItem& item) {
  std::string text = fmt::format("{} [{}]", item.type, fmt::join(item.extents, " x "));
  if (item.value) text += " = " + value_text(item);
  if (item.nan_count > 0) text += fmt::format(", {} NaN", item.nan_count);
  if (item.infinite_count > 0) text += fmt::format(", {} infinite", item.infinite_count);
  if (!item.filters.empty()) text += fmt::format(", {}", fmt::join(item.filters, "+"));
  return text + fmt::format(", {} bytes", item.stored_bytes);
}

/// Cuts a text between two characters of UTF-8.
std::string shortened(const std::string& text) {
  if (text.size() <= longest_attribute) return text;
  return std::string(cut_utf8(text, longest_attribute)) + "...";
}

/// Returns a message without the name of its file, with which it begins.
std::string without_file(std::string_view text, const std::string& file) {
  if (text.starts_with(file + ": ")) text.remove_prefix(file.size() + 2);
  return std::string(text);
}

void print_item(const InspectedItem& item, const std::string& file) {
  const std::string indent(static_cast<std::size_t>(2 * item.depth + 2), ' ');
  const std::string name = item.path.substr(item.path.find_last_of('/') + 1);
  if (item.kind == ItemKind::array) {
    say("{}{}: {}", indent, name, array_text(item));
  } else if (item.kind == ItemKind::link) {
    say("{}{}: {}, not followed", indent, name, item.type);
  } else {
    say("{}{}/", indent, name);
  }
  for (const auto& [key, value] : item.attributes) {
    say("{}    @{} = {}", indent, key, shortened(json_line(attribute_json(value))));
  }
  if (!item.unread.empty()) say("{}    cannot read: {}", indent, without_file(item.unread, file));
}

void print_inspection(const Inspection& found) {
  say("{}: {}, {} bytes, sha256 {}", found.path, format_name(found.format), found.file_bytes,
      found.sha256);
  // Nothing is known about a file that could not be opened.
  if (found.sound() || !found.items.empty()) {
    say("{}", found.creator.empty() ? "its writer is not named" : "written by " + found.creator);
  }
  if (const std::string kind = kind_of(found); !kind.empty()) say("a result of {}", kind);
  for (const InspectedItem& item : found.items) print_item(item, found.path);
  if (!found.sound()) return;
  const std::string sound = found.unread() == 0 ? "sound: " : "";
  const std::string reads =
      found.unread() == 0
          ? "every array reads"
          : fmt::format("{} of the arrays cannot be read, and the rest reads", found.unread());
  if (found.sealed) {
    say("{}{}, and every byte is as it was written", sound, reads);
  } else if (found.unguarded() == 0) {
    say("{}{} and every checksum holds", sound, reads);
  } else {
    say("{}; arrays without a checksum, in which changes would not be noticed: {}", reads,
        found.unguarded());
  }
}

/// Returns "FILE: damaged or unreadable: /q: why (and 2 more)", or "FILE: cannot read: why" of a
/// file that another program has locked.
std::string problem_line(const Inspection& found) {
  const std::string problem = without_file(found.problems.front(), found.path);
  const std::size_t more = found.problems.size() - 1;
  return fmt::format("{}: {}: {}{}", found.path,
                     found.locked ? "cannot read" : "damaged or unreadable", problem,
                     more > 0 ? fmt::format(" (and {} more)", more) : "");
}

}  // namespace

Action declare_inspect(CLI::App& options) {
  struct Typed {
    std::string file;
    bool json = false, allow_external = false;
  };
  const auto typed = std::make_shared<Typed>();
  options.add_option("FILE", typed->file, "HDF5, npz, npy or safetensors file")->required();
  options.add_flag("--allow-external", typed->allow_external,
                   "follow links and storage out of the input file");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] {
    check_whole_file(typed->file);
    const Inspection found =
        inspect(typed->file, {.cancelled = interrupted}, typed->allow_external);
    typed->json ? print_json(inspection_json(found)) : print_inspection(found);
    if (!found.sound()) fail("{}", problem_line(found));
    return 0;
  };
}

}  // namespace conelab
