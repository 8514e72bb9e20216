#include <gtest/gtest.h>

#include <string>

#include "core/files/hdf5.h"

namespace conelab::hdf5 {
namespace {

/// What is unpacked into at most `room` bytes; "damaged" where nothing is.
std::string unpacked(const std::string& packed, std::size_t room = 100) {
  std::string out(room, '?');
  const std::size_t written = unpack_lzf(packed, out.data(), room);
  return written == 0 ? "damaged" : out.substr(0, written);
}

TEST(Lzf, UnpacksLiteralsAndCopies) {
  EXPECT_EQ(unpacked({"\x02"
                      "abc",
                      4}),
            "abc");
  // From three back, four bytes: the copy runs into what it has written.
  EXPECT_EQ(unpacked({"\x02"
                      "abc\x40\x02",
                      6}),
            "abcabca");
  // Length 2 + 7 + 5 from one back.
  EXPECT_EQ(unpacked({"\x00"
                      "x\xe0\x05\x00",
                      5}),
            std::string(15, 'x'));
}

TEST(Lzf, DamageIsNoticedAtEveryEdge) {
  EXPECT_EQ(unpacked(""), "damaged");
  EXPECT_EQ(unpacked({"\x02"
                      "ab",
                      3}),
            "damaged");  // literals end early
  EXPECT_EQ(unpacked({"\x00"
                      "x\x40",
                      3}),
            "damaged");  // no distance
  EXPECT_EQ(unpacked({"\x00"
                      "x\xe0\x05",
                      4}),
            "damaged");  // no distance after a length
  EXPECT_EQ(unpacked({"\x00"
                      "x\x40\x01",
                      4}),
            "damaged");                             // before the beginning
  EXPECT_EQ(unpacked({"\x40\x00", 2}), "damaged");  // a copy of nothing
  EXPECT_EQ(unpacked({"\x02"
                      "abc",
                      4},
                     2),
            "damaged");  // more than there is room
  EXPECT_EQ(unpacked({"\x00"
                      "x\xe0\x05\x00",
                      5},
                     14),
            "damaged");
  EXPECT_EQ(unpacked({"\x00"
                      "x\xe0\x05\x00",
                      5},
                     15),
            std::string(15, 'x'));
}

}  // namespace
}  // namespace conelab::hdf5
