// Finds out the format of a file from its first bytes.
#include <array>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/files/byte_file.h"
#include "core/files/tensor_source.h"

namespace conelab {
namespace {

bool has_hdf5_signature(const ByteFile& file) {
  for (std::uint64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    if (file.peek(at, 8) == "\x89HDF\r\n\x1a\n") return true;
  }
  return false;
}

bool ends_with(const std::string& path, std::string_view ending) {
  return path.size() >= ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

/// Throws a failure for pickles and archives of them.
void refuse_pytorch(const std::string& path) {
  if (!ends_with(path, ".pt") && !ends_with(path, ".pth")) return;
  fail(
      "{}: a pickle of PyTorch, which is not read (save its tensors with numpy.savez or "
      "safetensors.torch.save_file)",
      path);
}

/// Returns the format that the name of a file suggests. Its reader can then report what is wrong
/// with the file.
FileFormat format_by_name(const ByteFile& file) {
  const std::string& path = file.path();
  refuse_pytorch(path);
  if (ends_with(path, ".h5") || ends_with(path, ".hdf5")) return FileFormat::hdf5;
  if (ends_with(path, ".npz")) return FileFormat::npz;
  if (ends_with(path, ".npy")) return FileFormat::npy;
  if (ends_with(path, ".safetensors")) return FileFormat::safetensors;
  fail(
      "{}: unknown format (expected HDF5, .npz, .npy or .safetensors, found a file that begins "
      "with '{}')",
      path, printable(file.peek(0, 8)));
}

}  // namespace

const char* format_name(FileFormat format) {
  constexpr std::array<const char*, 4> names = {"HDF5", "npz", "npy", "safetensors"};
  return names[static_cast<std::size_t>(format)];
}

FileFormat detect_format(const std::string& path) {
  const ByteFile file(path);
  const std::string head = file.peek(0, 9);
  if (head.rfind("\x93NUMPY", 0) == 0) return FileFormat::npy;
  if (head.rfind("PK\x03\x04", 0) == 0 || head.rfind("PK\x05\x06", 0) == 0) {
    refuse_pytorch(path);
    return FileFormat::npz;
  }
  if (has_hdf5_signature(file)) return FileFormat::hdf5;
  if (ends_with(path, safetensors_index)) return FileFormat::safetensors;
  if (head.size() == 9 && head[8] == '{') return FileFormat::safetensors;
  return format_by_name(file);
}

}  // namespace conelab
