#include "core/files/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/files/text.h"

namespace conelab {
namespace {

constexpr std::uint64_t most_members = 100000;
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;

/// Fixed-size fields of a record, little endian.
struct Record {
  std::string bytes;
  [[nodiscard]] std::uint64_t at(std::size_t offset, int size) const {
    return little_endian(bytes.data() + offset, size);
  }
};

struct Directory {
  std::uint64_t offset, bytes, members;
};

/// Without its directory an archive was cut; the member headers tell how much is missing at least.
[[noreturn]] void fail_without_directory(const ByteFile& file) {
  if (file.peek(0, 2) != "PK") fail("{}: is not a zip archive", file.path());
  std::uint64_t at = 0;
  while (at + 30 <= file.size()) {
    const Record header{file.read(at, 30)};
    if (header.at(0, 4) != 0x04034b50) break;
    std::uint64_t stored = header.at(18, 4);
    const std::uint64_t name = header.at(26, 2), extra = header.at(28, 2);
    const std::string fields = file.peek(at + 30 + name, extra);
    if (stored == in_zip64 && fields.size() >= 20 && little_endian(fields.data(), 2) == 1) {
      stored = little_endian(fields.data() + 12, 8);
    }
    if (stored > std::numeric_limits<std::uint64_t>::max() / 4) break;
    at += 30 + name + extra + stored;
  }
  // 22 bytes: the least that must follow the members.
  check_not_truncated(file.path(), std::max(at + 22, file.size() + 1), file.size());
  fail("{}: is not a zip archive", file.path());
}

/// The end record is the last one whose comment reaches exactly to the end of the file.
std::uint64_t find_end_record(const ByteFile& file) {
  const std::uint64_t window = std::min<std::uint64_t>(file.size(), 22 + 65535);
  const std::string tail = file.read(file.size() - window, window);
  for (std::size_t at = tail.size() < 22 ? 0 : tail.size() - 21; at-- > 0;) {
    if (tail.compare(at, 4, "PK\x05\x06") != 0) continue;
    if (at + 22 + little_endian(tail.data() + at + 20, 2) == tail.size()) {
      return file.size() - window + at;
    }
  }
  fail_without_directory(file);
}

Directory find_directory(const ByteFile& file) {
  const std::uint64_t end = find_end_record(file);
  const Record record{file.read(end, 22)};
  Directory directory{record.at(16, 4), record.at(12, 4), record.at(10, 2)};
  if (end >= 20 && file.read(end - 20, 4) == "PK\x06\x07") {
    const std::uint64_t large = little_endian(file.read(end - 12, 8).data(), 8);
    const Record record64{file.read(large, 56)};
    if (record64.at(0, 4) != 0x06064b50) fail("{}: damaged zip64 directory", file.path());
    directory = {record64.at(48, 8), record64.at(40, 8), record64.at(32, 8)};
  }
  if (directory.offset > end || directory.bytes > end - directory.offset) {
    fail("{}: damaged zip directory (it lies outside the file)", file.path());
  }
  if (directory.members > most_members || directory.members * 46 > directory.bytes) {
    fail("{}: damaged zip directory ({} members in {} bytes)", file.path(), directory.members,
         directory.bytes);
  }
  return directory;
}

void check_name(const ByteFile& file, const std::string& name, std::set<std::string>& seen) {
  const std::string shown = printable(name);
  const bool climbs = name == ".." || name.rfind("../", 0) == 0 ||
                      name.find("/../") != std::string::npos ||
                      (name.size() > 2 && name.compare(name.size() - 3, 3, "/..") == 0);
  const bool absolute = name.empty() || name.front() == '/' ||
                        name.find('\\') != std::string::npos || name.find(':') != std::string::npos;
  if (climbs || absolute || name.find('\0') != std::string::npos) {
    fail("{}: a member is called '{}' (refused: it leads out of the archive)", file.path(), shown);
  }
  if (!seen.insert(name).second) fail("{}: two members are called '{}'", file.path(), shown);
}

/// Sizes and offset that do not fit 32 bits follow in an extra field of id 1, in this order.
void apply_zip64(const std::string& extra, ZipMember& member, std::uint64_t& header_offset) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t id = little_endian(extra.data() + at, 2);
    const std::size_t end = at + 4 + little_endian(extra.data() + at + 2, 2);
    at += 4;
    if (end > extra.size()) return;
    for (std::uint64_t* field : {&member.declared_bytes, &member.stored_bytes, &header_offset}) {
      if (id != 1 || *field != in_zip64 || at + 8 > end) continue;
      *field = little_endian(extra.data() + at, 8);
      at += 8;
    }
    at = end;
  }
}

/// Fills data_offset from the header in front of the member's bytes.
void locate(const ByteFile& file, ZipMember& member, std::uint64_t header_offset,
            std::uint64_t directory_offset) {
  const std::string place = fmt::format("{}: {}", file.path(), printable(member.name));
  if (header_offset > directory_offset || directory_offset - header_offset < 30) {
    fail("{}: damaged zip member (it lies outside the file)", place);
  }
  const Record header{file.read(header_offset, 30)};
  if (header.at(0, 4) != 0x04034b50) fail("{}: damaged zip member (no header)", place);
  const std::uint64_t name = header.at(26, 2);
  if (file.read(header_offset + 30, name) != member.name) {
    fail("{}: damaged zip member (another name in its header)", place);
  }
  member.data_offset = header_offset + 30 + name + header.at(28, 2);
  if (member.data_offset > directory_offset ||
      member.stored_bytes > directory_offset - member.data_offset) {
    fail("{}: damaged zip member (it lies outside the file)", place);
  }
}

void check_overlap(const ByteFile& file, std::vector<ZipMember> members) {
  const auto before = [](const ZipMember& a, const ZipMember& b) {
    return a.data_offset < b.data_offset;
  };
  std::sort(members.begin(), members.end(), before);
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i - 1].data_offset + members[i - 1].stored_bytes > members[i].data_offset) {
      fail("{}: members '{}' and '{}' overlap", file.path(), printable(members[i - 1].name),
           printable(members[i].name));
    }
  }
}

/// Inflates (or copies) a member piece by piece.
class MemberReader {
 public:
  MemberReader(const ByteFile& file, const ZipMember& member)
      : file_(file), member_(member), input_(std::min<std::uint64_t>(member.stored_bytes, 65536)) {
    if (member.deflated && inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
      fail("{}: out of memory", place());
    }
  }
  ~MemberReader() {
    if (member_.deflated) inflateEnd(&stream_);
  }
  MemberReader(const MemberReader&) = delete;
  MemberReader& operator=(const MemberReader&) = delete;

  [[nodiscard]] std::string place() const {
    return fmt::format("{}: {}", file_.path(), printable(member_.name));
  }
  [[nodiscard]] std::uint32_t crc() const { return crc_; }

  /// As many bytes as there are, at most `count`.
  std::uint64_t read(char* bytes, std::uint64_t count) {
    const std::uint64_t got = member_.deflated ? inflate_some(bytes, count) : copy(bytes, count);
    for (std::uint64_t at = 0; at < got; at += 1u << 30) {
      crc_ = static_cast<std::uint32_t>(
          crc32(crc_, reinterpret_cast<const Bytef*>(bytes + at),
                static_cast<uInt>(std::min<std::uint64_t>(got - at, 1u << 30))));
    }
    return got;
  }

 private:
  std::uint64_t copy(char* bytes, std::uint64_t count) {
    count = std::min(count, member_.stored_bytes - consumed_);
    file_.read(member_.data_offset + consumed_, bytes, count);
    consumed_ += count;
    return count;
  }

  void refill() {
    const std::uint64_t count =
        std::min<std::uint64_t>(input_.size(), member_.stored_bytes - consumed_);
    file_.read(member_.data_offset + consumed_, input_.data(), count);
    consumed_ += count;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(count);
  }

  std::uint64_t inflate_some(char* bytes, std::uint64_t count) {
    std::uint64_t got = 0;
    while (got < count && !ended_) {
      if (stream_.avail_in == 0) refill();
      const auto room = static_cast<uInt>(std::min<std::uint64_t>(count - got, 1u << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(bytes + got);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      got += room - stream_.avail_out;
      ended_ = status == Z_STREAM_END;
      const bool stuck = status == Z_BUF_ERROR && consumed_ == member_.stored_bytes;
      if ((status != Z_OK && !ended_ && status != Z_BUF_ERROR) || stuck) {
        fail("{}: damaged deflate stream", place());
      }
    }
    return got;
  }

  const ByteFile& file_;
  const ZipMember& member_;
  std::vector<char> input_;
  z_stream stream_{};
  std::uint64_t consumed_ = 0;
  std::uint32_t crc_ = 0;
  bool ended_ = false;
};

ZipMember parse_member(const ByteFile& file, const Record& record, const std::string& rest,
                       std::uint64_t directory_offset, std::set<std::string>& seen) {
  ZipMember member;
  const std::uint64_t name = record.at(28, 2), extra = record.at(30, 2), method = record.at(10, 2);
  member.name = rest.substr(0, name);
  check_name(file, member.name, seen);
  const std::string shown = printable(member.name);
  if (record.at(8, 2) & 1) fail("{}: {}: is encrypted (refused)", file.path(), shown);
  if (method != 0 && method != 8) {
    fail("{}: {}: compression method {} is not read (expected stored or deflate)", file.path(),
         shown, method);
  }
  member.deflated = method == 8;
  member.crc = static_cast<std::uint32_t>(record.at(16, 4));
  member.stored_bytes = record.at(20, 4);
  member.declared_bytes = record.at(24, 4);
  std::uint64_t header_offset = record.at(42, 4);
  apply_zip64(rest.substr(name, extra), member, header_offset);
  locate(file, member, header_offset, directory_offset);
  if (!member.deflated && member.stored_bytes != member.declared_bytes) {
    fail("{}: {}: damaged zip member (stored {} bytes, declared {})", file.path(), shown,
         member.stored_bytes, member.declared_bytes);
  }
  return member;
}

}  // namespace

std::vector<ZipMember> list_zip(const ByteFile& file) {
  const Directory directory = find_directory(file);
  std::vector<ZipMember> members;
  std::set<std::string> seen;
  std::uint64_t at = directory.offset;
  const std::uint64_t end = directory.offset + directory.bytes;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (end - at < 46) fail("{}: damaged zip directory (cut short)", file.path());
    const Record record{file.read(at, 46)};
    const std::uint64_t rest = record.at(28, 2) + record.at(30, 2) + record.at(32, 2);
    if (record.at(0, 4) != 0x02014b50 || rest > end - at - 46) {
      fail("{}: damaged zip directory", file.path());
    }
    members.push_back(parse_member(file, record, file.read(at + 46, rest), directory.offset, seen));
    at += 46 + rest;
  }
  check_overlap(file, members);
  return members;
}

std::string peek_member(const ByteFile& file, const ZipMember& member, std::uint64_t count) {
  MemberReader reader(file, member);
  std::string bytes(count, '\0');
  bytes.resize(reader.read(bytes.data(), count));
  return bytes;
}

void read_member(const ByteFile& file, const ZipMember& member, std::uint64_t skip, void* bytes,
                 std::uint64_t count) {
  MemberReader reader(file, member);
  std::string skipped(skip, '\0');
  std::uint64_t got = reader.read(skipped.data(), skip);
  if (got == skip) got += reader.read(static_cast<char*>(bytes), count);
  check_not_truncated(reader.place(), skip + count, got);
  char beyond = 0;
  if (reader.read(&beyond, 1) != 0) {
    fail("{}: holds more than it declares (expected {} bytes)", reader.place(), skip + count);
  }
  if (reader.crc() != member.crc) {
    fail("{}: wrong checksum (expected {:08x}, found {:08x})", reader.place(), member.crc,
         reader.crc());
  }
}

}  // namespace conelab
