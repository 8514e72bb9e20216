#include "core/files/npy_header.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

/// A parser of the literal {'key': value, ...}, whose values are strings, booleans and tuples of
/// whole numbers.
class Literal {
 public:
  Literal(std::string_view text, const std::string& place) : rest_(text), place_(place) {}

  [[noreturn]] void malformed(const char* expected) const {
    fail("{}: malformed npy header (expected {}, found '{}')", place_, expected,
         printable(rest_, 20));
  }
  [[nodiscard]] bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void require(char c, const char* expected) {
    if (!accept(c)) malformed(expected);
  }
  [[nodiscard]] bool next_is(char c) {
    skip_space();
    return !rest_.empty() && rest_.front() == c;
  }
  std::string string() {
    if (!next_is('\'') && !next_is('"')) malformed("a string");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) malformed("the end of a string");
    std::string text(rest_.substr(1, end - 1));
    if (text.find('\\') != std::string::npos) malformed("a string without escapes");
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.substr(0, word.size()) != word) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    malformed("True or False");
  }
  std::int64_t integer() {
    skip_space();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc() || number < 0) malformed("a size");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    (void)accept('L');  // Python 2 wrote long integers with an L.
    return number;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    require('(', "a tuple of sizes");
    while (!accept(')')) {
      numbers.push_back(integer());
      if (numbers.size() > 32) malformed("at most 32 sizes");
      if (!accept(',') && !next_is(')')) malformed("',' or ')'");
    }
    return numbers;
  }
  void end() {
    skip_space();
    if (!rest_.empty()) malformed("the end");
  }

 private:
  void skip_space() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_.front()) != rest_.npos) {
      rest_.remove_prefix(1);
    }
  }
  std::string_view rest_;
  const std::string& place_;
};

void parse_dictionary(std::string_view text, const std::string& place, NpyHeader& header) {
  Literal literal(text, place);
  bool descr = false, order = false, shape = false;
  literal.require('{', "'{'");
  while (!literal.accept('}')) {
    const std::string key = literal.string();
    literal.require(':', "':'");
    if (key == "descr" && !descr) {
      if (literal.next_is('['))
        fail_unread("{}: wrong dtype (expected numbers, found records)", place);
      header.descr = literal.string();
      descr = true;
    } else if (key == "fortran_order" && !order) {
      header.fortran_order = literal.boolean();
      order = true;
    } else if (key == "shape" && !shape) {
      header.extents = literal.tuple();
      shape = true;
    } else {
      fail("{}: malformed npy header (expected descr, fortran_order and shape once, found '{}')",
           place, printable(key));
    }
    if (!literal.accept(',') && !literal.next_is('}')) literal.malformed("',' or '}'");
  }
  literal.end();
  if (!descr || !order || !shape) literal.malformed("descr, fortran_order and shape");
}

/// Parses a type such as "<f4": byte order, kind and size.
void parse_descr(const std::string& place, NpyHeader& header) {
  const std::string& descr = header.descr;
  if (descr.find('O') != std::string::npos) {
    fail_unread(
        "{}: wrong dtype (expected numbers, found Python objects, which are never unpickled)",
        place);
  }
  std::size_t size = 0;
  const char* digits = descr.data() + std::min<std::size_t>(2, descr.size());
  const char* end = descr.data() + descr.size();
  const auto [stop, error] = std::from_chars(digits, end, size);
  const bool ordered =
      !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string::npos;
  if (!ordered || error != std::errc() || stop != end || size == 0 || size > (1u << 24)) {
    fail_unread("{}: wrong dtype (expected one like '<f4', found '{}')", place, printable(descr));
  }
  header.big_endian = descr[0] == '>';
  const bool text = descr[1] == 'S' || descr[1] == 'U';
  header.element = text ? Element::text : element_of(descr[1], size);
  header.item_bytes = descr[1] == 'U' ? 4 * size : size;
}

/// NumPy pads strings with NUL; one within a string belongs to it.
std::string without_padding(std::string text) {
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::string utf8_of_utf32(const NpyHeader& header, const char* bytes) {
  std::string text;
  for (std::size_t at = 0; at < header.item_bytes; at += 4) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes + at, 4);
    if (header.big_endian) code = __builtin_bswap32(code);
    append_utf8(text, code);
  }
  return without_padding(std::move(text));
}

}  // namespace

std::uint64_t NpyHeader::data_bytes() const {
  return static_cast<std::uint64_t>(checked_product(extents).value_or(0)) * item_bytes;
}

std::string NpyHeader::type() const {
  const bool one_byte = item_bytes == 1 && (descr[1] == 'V' || descr[1] == 'f');
  return descr + (one_byte ? " (float8? it is not supported)" : "");
}

NpyHeader parse_npy_header(std::string_view prefix, std::uint64_t total, const std::string& place) {
  check_not_truncated(place, 10, total);
  if (prefix.substr(0, 6) != "\x93NUMPY") {
    fail("{}: is not an npy array (expected its signature, found '{}')", place,
         printable(prefix.substr(0, 6)));
  }
  const int major = static_cast<unsigned char>(prefix[6]);
  if (major < 1 || major > 3) {
    fail_unread("{}: npy format version {} is unknown (expected 1 to 3)", place, major);
  }
  const std::uint64_t begin = major == 1 ? 10 : 12;
  check_not_truncated(place, begin, total);
  const std::uint64_t length = little_endian(prefix.data() + 8, major == 1 ? 2 : 4);
  if (length > longest_npy_header) {
    fail("{}: npy header too long (expected at most {} characters, found {})", place,
         longest_npy_header, length);
  }
  check_not_truncated(place, begin + length, total);
  NpyHeader header;
  parse_dictionary(prefix.substr(begin, length), place, header);
  parse_descr(place, header);
  const std::optional<std::int64_t> count = checked_product(header.extents);
  if (!count ||
      static_cast<std::uint64_t>(*count) > (std::uint64_t{1} << 62) / (header.item_bytes + 1)) {
    fail("{}: declares an impossible size {}", place, extents_text(header.extents));
  }
  header.data_offset = begin + length;
  return header;
}

void normalise_npy(const NpyHeader& header, void* numbers) {
  auto* bytes = static_cast<char*>(numbers);
  const std::size_t total = header.data_bytes();
  if (header.big_endian && header.item_bytes > 1) {
    for (std::size_t at = 0; at < total; at += header.item_bytes) {
      std::reverse(bytes + at, bytes + at + header.item_bytes);
    }
  }
  const std::size_t rank = header.extents.size();
  if (header.fortran_order && rank > 1) {
    reorder(bytes, header.extents, reversed_axes(rank), header.item_bytes);
  }
}

std::vector<std::string> npy_strings(const NpyHeader& header, const std::string& bytes,
                                     const std::string& place) {
  std::vector<std::string> strings;
  const auto count = static_cast<std::size_t>(checked_product(header.extents).value_or(0));
  if (count > most_npy_strings) {
    fail("{}: holds {} strings (expected at most {})", place, count, most_npy_strings);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const char* item = bytes.data() + i * header.item_bytes;
    if (header.descr[1] == 'U') {
      strings.push_back(utf8_of_utf32(header, item));
    } else {
      strings.push_back(without_padding(std::string(item, header.item_bytes)));
    }
  }
  return strings;
}

// .npy files as a source of tensors: the names of arrays are paths.

namespace {

NpyHeader header_of(const ByteFile& file) {
  NpyHeader header = parse_npy_header(file.peek(0, most_npy_prefix), file.size(), file.path());
  check_not_truncated(file.path(), header.data_offset + header.data_bytes(), file.size());
  if (header.data_offset + header.data_bytes() < file.size()) {
    fail("{}: has bytes after its numbers (expected {} bytes, found {})", file.path(),
         header.data_offset + header.data_bytes(), file.size());
  }
  return header;
}

class NpySource : public TensorSource {
 public:
  explicit NpySource(SourceRules rules) : rules_(std::move(rules)) {}

  std::string place(const std::string& name) const override { return name; }
  std::vector<std::string> names() override { return {}; }

  std::optional<DeclaredArray> find(const std::string& name) override {
    const NpyHeader header = header_of(ByteFile(name, rules_.cancelled));
    return DeclaredArray{name, header.element, header.type(), header.extents};
  }

  void read(const DeclaredArray& array, void* numbers) override {
    const ByteFile file(array.name, rules_.cancelled);
    const NpyHeader header = header_of(file);
    file.read(header.data_offset, numbers, array.bytes());
    normalise_npy(header, numbers);
  }

  void read_rows(const DeclaredArray& array, void* numbers) override {
    const ByteFile file(array.name, rules_.cancelled);
    const NpyHeader header = header_of(file);
    const bool as_it_lies = array.order.empty() && !header.big_endian && !header.fortran_order;
    if (!as_it_lies) return TensorSource::read_rows(array, numbers);
    file.read_rows(header.data_offset, array, numbers);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    const ByteFile file(array.name, rules_.cancelled);
    const NpyHeader header = header_of(file);
    return npy_strings(header, file.read(header.data_offset, header.data_bytes()), file.path());
  }

  std::optional<AttributeValue> attribute(const std::string&) override { return {}; }

 private:
  SourceRules rules_;
};

}  // namespace

std::unique_ptr<TensorSource> open_npy_source(const SourceRules& rules) {
  return std::make_unique<NpySource>(rules);
}

}  // namespace conelab
