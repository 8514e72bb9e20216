// .npz archives as a source of tensors: members NAME.npy of a zip file. libzip reads them in
// memory, in the order of the file; nothing is extracted to disk.
//
// What is refused in addition to what libzip refuses (duplicate names, directories and headers that
// disagree): encryption, methods other than stored and deflate, absolute names, `..`, members that
// together are larger than the file (they overlap), and members that contain more or less than they
// declare. For a truncated archive the message gives the least length that it had, which libzip
// does not report.
#include <zip.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"
#include "core/files/npy_header.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

constexpr std::string_view ending = ".npy";
/// deflate cannot do better than 1 : 1032 (zlib's technical notes).
constexpr std::uint64_t best_deflate = 1032;
/// Number of bytes between two checks of whether a read was cancelled.
constexpr std::uint64_t most_at_once = std::uint64_t{1} << 26;

using ArchiveHandle = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using MemberHandle = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;

struct Member {
  std::string name;
  zip_uint64_t index = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t declared_bytes = 0;
  bool is_stored = false;    ///< Rather than deflated.
  std::string refused = {};  ///< Why its bytes are not unpacked; empty if they are.
};

/// Returns the least length that the archive had: up to the end of the members whose headers are
/// present, and at least one byte more than the file has. It is 0 if the file does not begin like
/// an archive.
std::uint64_t least_length(const ByteFile& file) {
  if (file.peek(0, 4) != "PK\x03\x04") return 0;
  std::uint64_t at = 0;
  while (at + 30 <= file.size()) {
    const std::string header = file.read(at, 30);
    const auto field = [&](int offset, int size) {
      return little_endian(header.data() + offset, size);
    };
    if (header.compare(0, 4, "PK\x03\x04") != 0) break;
    std::uint64_t stored = field(18, 4);
    const std::string extra = file.peek(at + 30 + field(26, 2), field(28, 2));
    if (stored == 0xFFFFFFFF && extra.size() >= 20) stored = little_endian(&extra[12], 8);  // zip64
    if (stored > std::numeric_limits<std::uint64_t>::max() / 4) break;
    at += 30 + field(26, 2) + field(28, 2) + stored;
  }
  constexpr std::uint64_t end_record = 22;
  return std::max(at + end_record, file.size() + 1);
}

ArchiveHandle open_archive(const ByteFile& file) {
  int code = 0;
  ArchiveHandle archive(zip_open(file.path().c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code),
                        zip_discard);
  if (archive) return archive;
  if (code == ZIP_ER_NOZIP) check_not_truncated(file.path(), least_length(file), file.size());
  if (code == ZIP_ER_NOZIP) fail("{}: is not a zip archive", file.path());
  if (code == ZIP_ER_EXISTS) fail("{}: two members have the same name", file.path());
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  fail("{}: damaged zip archive ({})", file.path(), why);
}

void check_name(const std::string& path, const std::string& name) {
  const bool climbs = ("/" + name + "/").find("/../") != std::string::npos;
  const bool absolute =
      name.empty() || name.front() == '/' || name.find_first_of("\\:") != std::string::npos;
  if (climbs || absolute) {
    fail("{}: a member is called '{}' (refused: it leads out of the archive)", path,
         printable(name));
  }
}

Member member_at(const std::string& path, zip_t* archive, zip_uint64_t index) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0) {
    fail("{}: damaged zip archive ({})", path, zip_strerror(archive));
  }
  Member member{stat.name, index, stat.comp_size, stat.size, stat.comp_method == ZIP_CM_STORE};
  check_name(path, member.name);
  const std::string place = fmt::format("{}: {}", path, printable(member.name));
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    member.refused =
        fmt::format("{}: compression method {} is not read (expected stored or deflate)", place,
                    stat.comp_method);
  }
  if (stat.encryption_method != ZIP_EM_NONE) member.refused = place + ": is encrypted (refused)";
  return member;
}

std::vector<Member> members_of(const ByteFile& file, zip_t* archive) {
  std::vector<Member> members;
  std::uint64_t left = file.size();
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    members.push_back(member_at(file.path(), archive, static_cast<zip_uint64_t>(i)));
    const Member& member = members.back();
    if (member.stored_bytes > left) {
      fail("{}: damaged zip archive (its members are larger than the file)", file.path());
    }
    left -= member.stored_bytes;
  }
  return members;
}

class NpzSource : public TensorSource {
 public:
  NpzSource(const std::string& path, const SourceRules& rules)
      : cancelled_(rules.cancelled),
        file_(path, rules.cancelled),
        archive_(open_archive(file_)),
        members_(members_of(file_, archive_.get())) {}

  std::string place(const std::string& name) const override {
    return fmt::format("{}: {}", file_.path(), name);
  }

  std::vector<std::string> names() override {
    std::vector<std::string> list;
    for (const Member& member : members_) {
      const std::string& name = member.name;
      const bool array = name.size() > ending.size() && name.ends_with(ending);
      list.push_back(array ? name.substr(0, name.size() - ending.size()) : name);
    }
    return list;
  }

  std::optional<DeclaredArray> find(const std::string& name) override {
    const Member* found = member(name);
    if (found == nullptr) return {};
    const NpyHeader header = header_of(*found);
    return DeclaredArray{name, header.element, header.type(), header.extents};
  }

  void read(const DeclaredArray& array, void* numbers) override {
    const Member& found = *member(array.name);
    const NpyHeader header = header_of(found);
    read_member(found, header.data_offset, numbers, header.data_bytes());
    normalise_npy(header, numbers);
  }

  /// Reads only the rows of a stored member; unpacks a deflated one in pieces.
  void read_rows(const DeclaredArray& array, void* numbers) override {
    const Member& found = *member(array.name);
    const NpyHeader header = header_of(found);
    const bool as_it_lies = array.order.empty() && !header.big_endian && !header.fortran_order;
    if (!as_it_lies) return TensorSource::read_rows(array, numbers);
    const std::string where = place(printable(found.name));
    const MemberHandle handle = open(found);
    const std::uint64_t item = element_size(array.element);
    std::uint64_t at = 0;
    for_each_run(array, [&](std::int64_t first, std::int64_t count, std::int64_t row) {
      const std::uint64_t begin = header.data_offset + static_cast<std::uint64_t>(first) * item;
      const std::uint64_t bytes = static_cast<std::uint64_t>(count) * item;
      skip(handle.get(), where, found, at, begin);
      at = begin + read_some(handle.get(), where,
                             static_cast<char*>(numbers) + static_cast<std::uint64_t>(row) * item,
                             bytes);
      check_not_truncated(where, begin + bytes, at);
    });
    if (!found.is_stored) skip(handle.get(), where, found, at, found.declared_bytes);
  }

  std::vector<std::string> read_strings(const DeclaredArray& array) override {
    const Member& found = *member(array.name);
    const NpyHeader header = header_of(found);
    std::string bytes(header.data_bytes(), '\0');
    read_member(found, header.data_offset, bytes.data(), bytes.size());
    return npy_strings(header, bytes, place(array.name));
  }

  void check(const std::string& name) override {
    const Member& found = *member(name);
    const MemberHandle handle = open(found);
    const std::string where = place(printable(found.name));
    std::string piece(std::size_t{1} << 20, '\0');
    std::uint64_t read = 0, now = 0;
    do {
      now = read_some(handle.get(), where, piece.data(), piece.size());
      read += now;
    } while (now == piece.size());
    check_not_truncated(where, found.declared_bytes, read);
  }

  std::optional<AttributeValue> attribute(const std::string&) override { return {}; }

 private:
  [[nodiscard]] const Member* member(const std::string& name) const {
    const auto found = std::ranges::find_if(members_, [&](const Member& m) {
      return m.name == name || m.name == name + std::string(ending);
    });
    return found == members_.end() ? nullptr : &*found;
  }

  /// Returns the header, after comparing the size that it declares with what the archive declares
  /// and stores.
  [[nodiscard]] NpyHeader header_of(const Member& found) const {
    const std::string where = place(printable(found.name));
    if (!found.name.ends_with(ending)) fail_unread("{}: is not an array", where);
    std::string prefix(std::min(most_npy_prefix, found.declared_bytes), '\0');
    prefix.resize(read_some(open(found).get(), where, prefix.data(), prefix.size()));
    NpyHeader header = parse_npy_header(prefix, prefix.size(), where);
    const std::uint64_t expected = header.data_offset + header.data_bytes();
    if (expected != found.declared_bytes) {
      fail("{}: wrong size (expected {} bytes for {}, found {})", where, expected,
           extents_text(header.extents), found.declared_bytes);
    }
    if (expected / best_deflate > found.stored_bytes) {
      fail("{}: declares {} bytes, but only {} are stored", where, expected, found.stored_bytes);
    }
    return header;
  }

  [[nodiscard]] MemberHandle open(const Member& found) const {
    if (!found.refused.empty()) fail_unread("{}", found.refused);
    MemberHandle handle(zip_fopen_index(archive_.get(), found.index, 0), zip_fclose);
    if (!handle) {
      fail("{}: damaged zip member ({})", place(printable(found.name)),
           zip_strerror(archive_.get()));
    }
    return handle;
  }

  /// Reads as many bytes as there are, at most `count`.
  std::uint64_t read_some(zip_file_t* handle, const std::string& where, char* bytes,
                          std::uint64_t count) const {
    std::uint64_t got = 0;
    while (got < count) {
      stop_if(cancelled_);
      const zip_int64_t now = zip_fread(handle, bytes + got, std::min(count - got, most_at_once));
      if (now < 0) {
        zip_error_t* error = zip_file_get_error(handle);
        if (zip_error_code_zip(error) == ZIP_ER_CRC) fail("{}: wrong checksum", where);
        fail("{}: damaged zip member ({})", where, zip_error_strerror(error));
      }
      if (now == 0) break;
      got += static_cast<std::uint64_t>(now);
    }
    return got;
  }

  /// Goes from byte `at` of a member to byte `to`. The checksum of a deflated one is compared at
  /// its end.
  void skip(zip_file_t* handle, const std::string& where, const Member& found, std::uint64_t at,
            std::uint64_t to) const {
    if (found.is_stored && zip_fseek(handle, static_cast<zip_int64_t>(to), SEEK_SET) == 0) return;
    std::string piece(std::clamp<std::uint64_t>(to - at, 1, std::uint64_t{1} << 20), '\0');
    while (at < to) {
      const std::uint64_t now = std::min<std::uint64_t>(to - at, piece.size());
      const std::uint64_t got = read_some(handle, where, piece.data(), now);
      check_not_truncated(where, at + now, at + got);
      at += got;
    }
    if (to == found.declared_bytes) (void)read_some(handle, where, piece.data(), 1);
  }

  /// Skips `skip` bytes and reads exactly `count`, which must be the rest of the member. libzip
  /// checks the CRC-32 at the end.
  void read_member(const Member& found, std::uint64_t skip, void* bytes,
                   std::uint64_t count) const {
    const std::string where = place(printable(found.name));
    const MemberHandle handle = open(found);
    std::string skipped(skip, '\0');
    std::uint64_t got = read_some(handle.get(), where, skipped.data(), skip);
    if (got == skip) got += read_some(handle.get(), where, static_cast<char*>(bytes), count);
    check_not_truncated(where, skip + count, got);
    char beyond = 0;
    if (read_some(handle.get(), where, &beyond, 1) != 0) {
      fail("{}: holds more than it declares (expected {} bytes)", where, skip + count);
    }
  }

  std::function<bool()> cancelled_;
  ByteFile file_;
  ArchiveHandle archive_;
  std::vector<Member> members_;
};

}  // namespace

std::unique_ptr<TensorSource> open_npz_source(const std::string& path, const SourceRules& rules) {
  return std::make_unique<NpzSource>(path, rules);
}

}  // namespace conelab
