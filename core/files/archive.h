// Sends plain structs through a pipe, in frames of tag, length and bytes.
//
// One function `visit(archive, value)` for each struct serves both directions: a writer sends the
// value and a reader fills it. It stands in the namespace of the struct, where the functions below
// find it by the type of its argument. The writing side may move from the value, as the function
// for maps does: what was sent is not to be used again. Both ends are the same program, so that the
// byte order is the machine's.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace conelab {

/// Sends values. `send` receives the bytes of one frame.
class ArchiveWriter {
 public:
  using Send = std::function<void(const void* bytes, std::uint64_t count)>;
  explicit ArchiveWriter(Send send) : send_(std::move(send)) {}
  static constexpr bool reads = false;

  template <class Number>
  void numbers(std::vector<Number>& list) {
    send_(list.data(), list.size() * sizeof(Number));
  }
  void bytes(std::string& text) { send_(text.data(), text.size()); }

 private:
  Send send_;
};

/// Fills values. `length` returns the length of the next frame, and `receive` reads its bytes.
class ArchiveReader {
 public:
  using Length = std::function<std::uint64_t()>;
  using Receive = std::function<void(void* bytes, std::uint64_t count)>;
  ArchiveReader(Length length, Receive receive)
      : length_(std::move(length)), receive_(std::move(receive)) {}
  static constexpr bool reads = true;

  template <class Number>
  void numbers(std::vector<Number>& list) {
    const std::uint64_t count = length_();
    list.resize(count / sizeof(Number));
    receive_(list.data(), list.size() * sizeof(Number));
  }
  void bytes(std::string& text) {
    text.resize(length_());
    receive_(text.data(), text.size());
  }

 private:
  Length length_;
  Receive receive_;
};

template <class Archive>
void visit(Archive& archive, std::string& text) {
  archive.bytes(text);
}

/// Numbers, booleans and enumerations.
template <class Archive, class Number>
requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
void visit(Archive& archive, Number& number) {
  std::string bytes(reinterpret_cast<const char*>(&number), sizeof number);
  archive.bytes(bytes);
  if (bytes.size() != sizeof number) return;
  if constexpr (std::is_same_v<Number, bool>) {
    number = bytes.front() != 0;  // Other bytes than 0 and 1 are no value of the type.
  } else {
    std::memcpy(&number, bytes.data(), sizeof number);
  }
}

template <class Archive, class Item>
void visit(Archive& archive, std::vector<Item>& list) {
  if constexpr (std::is_arithmetic_v<Item>) {
    archive.numbers(list);
  } else {
    std::uint64_t count = list.size();
    visit(archive, count);
    if constexpr (Archive::reads) list.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (Archive::reads) list.emplace_back();
      visit(archive, list[i]);
    }
  }
}

template <class Archive, class First, class Second>
void visit(Archive& archive, std::pair<First, Second>& pair) {
  visit(archive, pair.first);
  visit(archive, pair.second);
}

template <class Archive, class Item>
void visit(Archive& archive, std::optional<Item>& item) {
  bool present = item.has_value();
  visit(archive, present);
  if constexpr (Archive::reads) item = present ? std::optional<Item>(Item{}) : std::nullopt;
  if (present) visit(archive, *item);
}

template <class Archive, class Value>
void visit(Archive& archive, std::map<std::string, Value>& map) {
  std::vector<std::pair<std::string, Value>> list(std::make_move_iterator(map.begin()),
                                                  std::make_move_iterator(map.end()));
  visit(archive, list);
  if constexpr (Archive::reads) map = {list.begin(), list.end()};
}

namespace detail {

/// Makes alternative number `index` the active one.
template <class Variant, std::size_t i = 0>
void activate(Variant& variant, std::size_t index) {
  if constexpr (i < std::variant_size_v<Variant>) {
    if (index == i) {
      variant.template emplace<i>();
    } else {
      activate<Variant, i + 1>(variant, index);
    }
  }
}

}  // namespace detail

template <class Archive, class... Alternatives>
void visit(Archive& archive, std::variant<Alternatives...>& variant) {
  std::uint64_t index = variant.index();
  visit(archive, index);
  if constexpr (Archive::reads) detail::activate(variant, index);
  std::visit([&](auto& value) { visit(archive, value); }, variant);
}

/// Visits several values in their order.
template <class Archive, class... Values>
void visit_all(Archive& archive, Values&... values) {
  (visit(archive, values), ...);
}

}  // namespace conelab
