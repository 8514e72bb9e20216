#include "core/base/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "core/base/error.h"

namespace conelab {
namespace {

void require(bool done) {
  if (!done) fail("SHA-256 is not to be had from this system's libcrypto");
}

/// Returns null if there is none.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return found;
}

}  // namespace

void Sha256::prepare() { (void)algorithm(); }

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  require(context_ != nullptr && algorithm() != nullptr &&
          EVP_DigestInit_ex(context_.get(), algorithm(), nullptr) == 1);
}

void Sha256::update(const void* bytes, std::size_t count) {
  require(EVP_DigestUpdate(context_.get(), bytes, count) == 1);
}

std::string Sha256::bytes() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  return {digest.begin(), digest.begin() + size};
}

std::string Sha256::hex() { return hex_digits(bytes()); }

std::string hex_digits(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes.data(), bytes.size());
  return digest.hex();
}

std::string sha256_of_file(const std::string& path, const std::function<bool()>& cancelled) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) fail("{}: cannot be opened: {}", path, std::strerror(errno));
  Sha256 digest;
  std::vector<char> buffer(1 << 20);
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), file.get())) > 0) {
    stop_if(cancelled);
    digest.update(buffer.data(), count);
  }
  if (std::ferror(file.get())) fail("{}: cannot be read: {}", path, std::strerror(errno));
  return digest.hex();
}

}  // namespace conelab
