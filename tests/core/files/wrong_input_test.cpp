// Every kind of wrong input gives one clear line.
#include <unistd.h>

#include "core/files/bench_file.h"
#include "core/files/read_tensors.h"
#include "core/files/sandbox.h"
#include "tests/core/files/examples.h"

namespace conelab {
namespace {

using fixtures::add_tensor;
using fixtures::bytes_of;
using fixtures::FilesTest;
using fixtures::floats;
using fixtures::make_h5;
using fixtures::message_of;
using fixtures::npy;
using fixtures::npy_header;
using fixtures::patched;
using fixtures::safetensors;
using fixtures::slurp;
using fixtures::spill;
using fixtures::zip;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A data set of zeros of any type and creation properties.
void add_raw(hid_t root, const char* name, hid_t type, const std::vector<hsize_t>& extents,
             hid_t properties = H5P_DEFAULT, bool write = true) {
  const hdf5::Space space(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
  const hdf5::Dataset dataset(H5Dcreate2(root, name, type, space.id(), 0, properties, 0));
  hsize_t count = 1;
  for (const hsize_t extent : extents) count *= extent;
  const std::vector<char> zeros(write ? count * H5Tget_size(type) : 0);
  if (write) H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, 0, zeros.data());
}

/// A virtual data set q [3 × 4] whose source is `set` of `file`.
void add_virtual(hid_t root, const std::string& file, const char* set) {
  const hsize_t extents[2] = {3, 4};
  const hdf5::Space space(H5Screate_simple(2, extents, nullptr));
  const hdf5::Properties parts(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_virtual(parts.id(), space.id(), file.c_str(), set, space.id());
  add_raw(root, "q", H5T_IEEE_F32LE, {3, 4}, parts.id(), false);
}

class WrongInput : public FilesTest {
 protected:
  /// The error of reading a file, without the directory; checks that it is one line.
  std::string error_for(const std::string& spec, const InputOptions& options = {}) const {
    std::string error = message_of([&] { (void)read_input_sandboxed(path(spec), options); });
    EXPECT_EQ(error.find('\n'), std::string::npos);
    for (std::size_t at = 0; (at = error.find(directory_.string() + "/", at)) != error.npos;) {
      error.erase(at, directory_.string().size() + 1);
    }
    return error;
  }
  std::string h5_error(const std::function<void(hid_t root)>& fill) const {
    make_h5(path("t.h5"), fill);
    return error_for("t.h5");
  }
  /// That of a file whose q is such a data set.
  std::string raw_error(hid_t type, const std::vector<hsize_t>& extents,
                        hid_t properties = H5P_DEFAULT, bool write = true) const {
    return h5_error([&](hid_t root) { add_raw(root, "q", type, extents, properties, write); });
  }
  std::string bytes_error(const std::string& name, std::string_view bytes) const {
    spill(path(name), bytes);
    return error_for(name);
  }
};

TEST_F(WrongInput, NoSuchFile) {
  EXPECT_EQ(error_for("none.h5"), "none.h5: cannot be opened: No such file or directory");
  EXPECT_EQ(error_for("none.h5:/layer1"), "none.h5: cannot be opened: No such file or directory");
  EXPECT_EQ(message_of([&] { (void)read_input(directory_.string()); }),
            directory_.string() + ": is a directory (expected a file)");
  EXPECT_EQ(bytes_error("empty.h5", ""), "empty.h5: is empty (0 bytes)");
  EXPECT_EQ(bytes_error("a.txt", "Hello world"),
            "a.txt: unknown format (expected HDF5, .npz, .npy or .safetensors, found a file that "
            "begins with 'Hello wo')");
  EXPECT_EQ(bytes_error("a.h5", "Hello world"),
            "a.h5: is not an HDF5 file (expected its signature, found 'Hello wo')");
  EXPECT_THAT(bytes_error("a.npy", "Hello world"), HasSubstr("a.npy: is not an npy array"));
  EXPECT_THAT(bytes_error("a.pt", "PK\x03\x04"), HasSubstr("a.pt: a pickle of PyTorch"));
}

TEST_F(WrongInput, WrongRankDtypeOrSize) {
  EXPECT_EQ(h5_error([](hid_t r) { add_tensor(r, "q", {4}); }),
            "t.h5: /q: wrong rank (expected [n, d], [head, n, d] or [batch, head, n, d], found "
            "[4])");
  EXPECT_THAT(h5_error([](hid_t r) {
                add_tensor(r, "q", {1, 1, 1, 1, 4});
              }),
              HasSubstr("found [1, 1, 1, 1, 4])"));
  EXPECT_EQ(raw_error(H5T_STD_I32LE, {2, 3}),
            "t.h5: /q: wrong dtype (expected f16, f32, f64 or bf16, found int32)");
  EXPECT_EQ(raw_error(H5T_STD_U16LE, {2, 3}),
            "t.h5: /q: wrong dtype (expected f16, f32, f64 or bf16, found uint16; bf16 has "
            "the attribute dtype=\"bfloat16\", or is named by --bf16)");
  EXPECT_THAT(raw_error(H5T_NATIVE_LDOUBLE, {2, 3}), HasSubstr("found a float of 16 bytes)"));
  EXPECT_THAT(h5_error([](hid_t r) {
                const hdf5::Type complex(H5Tcreate(H5T_COMPOUND, 8));
                H5Tinsert(complex.id(), "r", 0, H5T_IEEE_F32LE);
                H5Tinsert(complex.id(), "i", 4, H5T_IEEE_F32LE);
                add_raw(r, "q", complex.id(), {2, 3});
              }),
              HasSubstr("found compound"));
  EXPECT_EQ(raw_error(H5T_IEEE_F32LE, {0, 3}),
            "t.h5: /q: is empty (expected at least one token and one feature, found [0, 3])");
  EXPECT_THAT(h5_error([](hid_t r) { H5Gclose(H5Gcreate2(r, "q", 0, 0, 0)); }),
              HasSubstr("/q: is not a data set"));
}

TEST_F(WrongInput, ShapesThatDisagree) {
  const auto both = [&](std::vector<hsize_t> q, std::vector<hsize_t> k, std::vector<hsize_t> v) {
    return h5_error([&](hid_t root) {
      add_tensor(root, "q", q);
      add_tensor(root, "k", k);
      if (!v.empty()) add_tensor(root, "v", v);
    });
  };
  EXPECT_EQ(both({3, 4}, {3, 5}, {3, 4}),
            "t.h5: /k: wrong number of features d (expected 4 as q has, found 5 of k: [3, 5] "
            "against [3, 4])");
  EXPECT_THAT(both({2, 3, 4}, {3, 3, 4}, {3, 3, 4}), HasSubstr("/k: wrong number of heads"));
  EXPECT_THAT(both({2, 1, 3, 4}, {1, 1, 3, 4}, {1, 1, 3, 4}), HasSubstr("wrong batch size"));
  EXPECT_THAT(both({3, 4}, {5, 4}, {6, 4}),
              HasSubstr("/v: wrong number of tokens n_k (expected 5 as k has, found 6"));
  EXPECT_THAT(both({3, 4}, {5, 4}, {}), HasSubstr("v is absent and q stands for it"));
  const auto beside_q = [&](const char* name, std::vector<hsize_t> extents) {
    return h5_error([&](hid_t root) {
      add_tensor(root, "q", {3, 4});
      add_raw(root, name, std::string(name) == "mask" ? H5T_STD_U8LE : H5T_IEEE_F32LE, extents);
    });
  };
  EXPECT_EQ(beside_q("output_grad", {2, 4}),
            "t.h5: /output_grad: wrong number of tokens n_q (expected 3 as q has, found 2 of "
            "output_grad: [2, 4] against [3, 4])");
  EXPECT_EQ(
      beside_q("mask", {3, 4}),
      "t.h5: /mask: wrong shape (expected [n_q, n_k] = [3, 3], [batch, n_k], [head, n_q, n_k] "
      "or [batch, head, n_q, n_k], 1 for any of them, found [3, 4]; a mask beside q is always "
      "applied: give it another name to leave it out)");
  EXPECT_EQ(beside_q("token", {3}), "t.h5: /token: wrong dtype (expected strings, found f32)");
  EXPECT_EQ(h5_error([](hid_t root) {
              add_tensor(root, "q", {3, 4});
              (void)hdf5::write_strings(root, "token", {2}, {"a", "b"}, {"", ""});
            }),
            "t.h5: /token: wrong length (expected [3] or [1, 3], found [2])");
}

TEST_F(WrongInput, ResultsOfThisProgramAreNoTraces) {
  const auto add_spec = [](hid_t group, const std::string& text) {
    hdf5::write_attribute(group, "spec", text, {"t.h5", "/"});
  };
  const auto name_root = [](hid_t root, const std::string& kind) {
    hdf5::write_attribute(root, "conelab_format", std::int64_t{1}, {"t.h5", "/"});
    hdf5::write_attribute(root, "default", kind, {"t.h5", "/"});
  };
  make_h5(path("t.h5"), [&](hid_t root) {
    name_root(root, "attention");
    const hdf5::Group attention(H5Gcreate2(root, "attention", 0, 0, 0));
    add_spec(attention.id(), R"({"command": "attend", "input": "m.h5:/layer3"})");
    const hdf5::Group gradients(H5Gcreate2(attention.id(), "gradients", 0, 0, 0));
    add_tensor(gradients.id(), "q", {3, 4});
  });
  EXPECT_EQ(error_for("t.h5"), "t.h5: is a result of attend, no trace; computed from m.h5:/layer3");
  EXPECT_EQ(error_for("t.h5:/attention/gradients"), "");
  make_h5(path("t.h5"), [&](hid_t root) {
    name_root(root, "tree");
    add_spec(root, "no JSON");
  });
  EXPECT_EQ(error_for("t.h5"), "t.h5: is a result of tree, no trace (expected arrays q, k, v)");
  make_h5(path("t.h5"), [&](hid_t root) { name_root(root, "bench"); });
  EXPECT_EQ(error_for("t.h5"), "t.h5: is a result of bench, no trace (expected arrays q, k, v)");
}

TEST_F(WrongInput, UnknownGroupOrName) {
  make_h5(path("t.h5"), [](hid_t root) {
    const hdf5::Group layer(H5Gcreate2(root, "layer3", 0, 0, 0));
    add_tensor(layer.id(), "q", {3, 4});
  });
  EXPECT_EQ(error_for("t.h5:/layer4"),
            "t.h5: /: no 'layer4' here; did you mean 'layer3'? (found: layer3)");
  EXPECT_EQ(error_for("t.h5"), "t.h5: no array q; groups that hold one: /layer3");
  EXPECT_EQ(error_for("t.h5:/layer3/q"),
            "t.h5: /layer3/q: is not a group (expected one that holds q)");
  InputOptions options;
  options.key = "keys";
  EXPECT_EQ(error_for("t.h5:/layer3", options), "t.h5: /layer3/keys: not found (found: q)");
  spill(path("q.npy"), npy("<f4", "(2, 3)", floats(6)));
  EXPECT_THAT(error_for("q.npy:/layer3"), HasSubstr("has no groups"));
}

TEST_F(WrongInput, NothingIsFollowedOutOfTheFile) {
  make_h5(path("secret.h5"), [](hid_t root) { add_tensor(root, "q", {3, 4}); });
  spill(path("secret.raw"), std::string(48, 'x'));
  EXPECT_EQ(h5_error([&](hid_t root) {
              H5Lcreate_external(path("secret.h5").c_str(), "/q", root, "q", 0, 0);
            }),
            "t.h5: /q: is a link to another file (--allow-external follows it)");
  EXPECT_EQ(h5_error([&](hid_t root) {
              H5Lcreate_external(path("secret.h5").c_str(), "/", root, "g", 0, 0);
              H5Lcreate_soft("/g/q", root, "q", 0, 0);
            }),
            "t.h5: /g: is a link to another file (--allow-external follows it)");
  const hdf5::Lock lock;
  const hdf5::Properties raw(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_external(raw.id(), path("secret.raw").c_str(), 0, 48);
  EXPECT_EQ(raw_error(H5T_IEEE_F32LE, {3, 4}, raw.id(), false),
            "t.h5: /q: keeps its numbers in another file (--allow-external reads it)");
  EXPECT_EQ(h5_error([&](hid_t root) { add_virtual(root, path("secret.h5"), "/q"); }),
            "t.h5: /q: is a virtual data set, made of other files (--allow-external reads them)");
}

TEST_F(WrongInput, VirtualDataSetsAreReadWhereAsked) {
  make_h5(path("part.h5"), [](hid_t root) { add_tensor(root, "q", {3, 4}); });
  InputOptions options;
  options.allow_external = true;
  for (const std::string& name : {std::string("part.h5"), path("part.h5")}) {
    make_h5(path("t.h5"), [&](hid_t root) { add_virtual(root, name, "/q"); });
    for (const bool sandboxed : {false, true}) {
      const Input input = sandboxed ? read_input_sandboxed(path("t.h5"), options)
                                    : read_input(path("t.h5"), options);
      EXPECT_EQ(to_doubles(input.query), fixtures::ramp(12)) << name;
    }
  }
  make_h5(path("t.h5"), [](hid_t root) { add_virtual(root, "none.h5", "/q"); });
  EXPECT_EQ(error_for("t.h5", options),
            "t.h5: /q: is a virtual data set whose source none.h5: /q is missing");
  make_h5(path("t.h5"), [](hid_t root) { add_virtual(root, "part.h5", "/k"); });
  EXPECT_EQ(error_for("t.h5", options),
            "t.h5: /q: is a virtual data set whose source part.h5: /k is missing");
}

TEST_F(WrongInput, VirtualDataSetsOfTheSameFileAreRead) {
  const auto made_of_part = [](const std::string& name) {
    return [name](hid_t root) {
      add_tensor(root, "part", {3, 4});
      add_virtual(root, name, "/part");
    };
  };
  make_h5(path("t.h5"), made_of_part("."));
  EXPECT_EQ(to_doubles(read_input_sandboxed(path("t.h5")).query), fixtures::ramp(12));
  EXPECT_THAT(h5_error(made_of_part("t.h5")), HasSubstr("made of other files"));
  EXPECT_EQ(h5_error([](hid_t root) {
              add_tensor(root, "part", {2, 4});
              add_virtual(root, ".", "/part");
            }),
            "t.h5: /q: is a virtual data set whose source /part is smaller than what is taken from "
            "it");
  make_h5(path("secret.h5"), [](hid_t root) { add_tensor(root, "q", {3, 4}); });
  EXPECT_THAT(h5_error([&](hid_t root) {
                H5Lcreate_external(path("secret.h5").c_str(), "/q", root, "part", 0, 0);
                add_virtual(root, ".", "/part");
              }),
              HasSubstr("is a link to another file"));
}

TEST_F(WrongInput, RawFilesMustHoldWhatIsDeclared) {
  InputOptions options;
  options.allow_external = true;
  const auto error_with = [&](std::size_t bytes) {
    spill(path("raw"), std::string(bytes, '\0'));
    make_h5(path("t.h5"), [&](hid_t root) {
      const hdf5::Properties raw(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_external(raw.id(), path("raw").c_str(), 8, H5F_UNLIMITED);
      add_raw(root, "q", H5T_IEEE_F32LE, {3, 4}, raw.id(), false);
    });
    return error_for("t.h5", options);
  };
  EXPECT_EQ(error_with(8 + 48), "");
  EXPECT_THAT(error_with(8 + 47),
              HasSubstr("missing or truncated: expected 48 bytes from 8, have 47"));
  EXPECT_THAT(error_with(3), HasSubstr("have 0"));
}

TEST_F(WrongInput, CyclesOfLinks) {
  EXPECT_EQ(h5_error([](hid_t root) {
              H5Lcreate_soft("/k", root, "q", 0, 0);
              H5Lcreate_soft("/q", root, "k", 0, 0);
            }),
            "t.h5: /q: links form a cycle");
  EXPECT_EQ(h5_error([](hid_t root) { H5Lcreate_soft("q", root, "q", 0, 0); }),
            "t.h5: /q: links form a cycle");
  EXPECT_EQ(h5_error([](hid_t root) { H5Lcreate_soft("/nowhere", root, "q", 0, 0); }),
            "t.h5: /: no 'nowhere' here (found: q)");
  make_h5(path("t.h5"), [](hid_t root) {
    const hdf5::Group a(H5Gcreate2(root, "a", 0, 0, 0)), b(H5Gcreate2(a.id(), "b", 0, 0, 0));
    H5Lcreate_hard(root, "a", b.id(), "up", 0, 0);
    H5Lcreate_hard(root, "/", a.id(), "root", 0, 0);
    add_tensor(b.id(), "q", {3, 4});
  });
  EXPECT_EQ(error_for("t.h5"), "t.h5: no array q; groups that hold one: /a/b");
  EXPECT_EQ(error_for("t.h5:/a/b/up/b/up/b"), "");
  EXPECT_EQ(read_labelled_file_sandboxed(path("t.h5")).groups.size(), 1u);
}

TEST_F(WrongInput, FiltersThatAreNotRead) {
  const hdf5::Lock lock;
  const hsize_t chunk[2] = {3, 4};
  const hdf5::Properties trap(H5Pcreate(H5P_DATASET_CREATE)), twice(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(trap.id(), 2, chunk);
  H5Pset_filter(trap.id(), 32001, H5Z_FLAG_OPTIONAL, 0, nullptr);
  EXPECT_EQ(
      raw_error(H5T_IEEE_F32LE, {3, 4}, trap.id()),
      "t.h5: /q: filter 32001 (blosc) is not read (expected deflate, lzf, shuffle or fletcher32; "
      "rewrite it with gzip)");
  H5Pset_chunk(twice.id(), 2, chunk);
  H5Pset_deflate(twice.id(), 9);
  H5Pset_deflate(twice.id(), 9);
  EXPECT_EQ(raw_error(H5T_IEEE_F32LE, {3, 4}, twice.id()),
            "t.h5: /q: 2 deflate or lzf filters in a row (refused)");
}

TEST_F(WrongInput, GiganticDeclarations) {
  const hdf5::Lock lock;
  const hdf5::Properties late(H5Pcreate(H5P_DATASET_CREATE)), chunks(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_alloc_time(late.id(), H5D_ALLOC_TIME_LATE);
  const hsize_t large = hsize_t{1} << 40;
  EXPECT_EQ(
      raw_error(H5T_IEEE_F32LE, {large, 64}, late.id(), false),
      "t.h5: /q: declares [1099511627776, 64] = 281474976710656 bytes, but only 0 are stored");
  const hsize_t chunk[2] = {4, 4}, whole[2] = {hsize_t{1} << 25, 16};
  H5Pset_chunk(chunks.id(), 2, chunk);
  H5Pset_deflate(chunks.id(), 9);
  EXPECT_THAT(raw_error(H5T_IEEE_F32LE, {large, large}, chunks.id(), false),
              HasSubstr("declares an impossible size"));
  EXPECT_THAT(raw_error(H5T_IEEE_F32LE, {large, 4}, chunks.id(), false),
              HasSubstr("but only 0 are stored"));
  H5Pset_chunk(chunks.id(), 2, whole);
  EXPECT_THAT(raw_error(H5T_IEEE_F32LE, {whole[0], 16}, chunks.id(), false),
              HasSubstr("has chunks of"));
  EXPECT_THAT(bytes_error("q.npy", npy("<f4", "(1099511627776, 64)", floats(4))),
              StartsWith("q.npy: truncated: expected 281474976710"));
  EXPECT_THAT(bytes_error("q.npy", npy("<f4", "(4611686018427387904, 4611686018427387904)", "")),
              HasSubstr("declares an impossible size"));
  EXPECT_THAT(
      bytes_error(
          "q.safetensors",
          safetensors(
              R"({"q":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", "")),
      HasSubstr("declares an impossible size"));
}

TEST_F(WrongInput, Npy) {
  const auto header = [&](const std::string& dictionary) {
    return bytes_error("q.npy", npy_header(dictionary) + floats(6));
  };
  EXPECT_EQ(
      header("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}"),
      "q.npy: wrong dtype (expected numbers, found Python objects, which are never unpickled)");
  EXPECT_THAT(header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}"),
              HasSubstr("found records"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False}"),
              HasSubstr("malformed npy header"));
  EXPECT_THAT(header("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("once, found 'descr'"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}"),
              HasSubstr("expected True or False"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}"),
              HasSubstr("expected a size, found '-2"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} + exit()"),
              HasSubstr("expected the end"));
  EXPECT_THAT(header("__import__('os').system('true')"), HasSubstr("malformed npy header"));
  EXPECT_THAT(header("{'descr': '<c8', 'fortran_order': False, 'shape': (3, 1)}"),
              HasSubstr("found <c8"));
  EXPECT_THAT(header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}"),
              HasSubstr("has bytes after its numbers"));
  EXPECT_THAT(bytes_error("q.npy", patched(npy("<f4", "(2, 3)", floats(6)), 6, "\x07")),
              HasSubstr("npy format version 7 is unknown"));
  EXPECT_THAT(
      bytes_error("q.npy", std::string("\x93NUMPY\x01\x00\xff\xff", 10) + std::string(70000, ' ')),
      HasSubstr("npy header too long"));
}

TEST_F(WrongInput, Npz) {
  const std::string q = npy("<f4", "(2, 3)", floats(6));
  const auto named = [&](const std::string& name) {
    return bytes_error("t.npz", zip({{"q.npy", q}, {name, q}}));
  };
  EXPECT_EQ(named("../k.npy"),
            "t.npz: a member is called '../k.npy' (refused: it leads out of the archive)");
  EXPECT_THAT(named("/k.npy"), HasSubstr("leads out of the archive"));
  EXPECT_THAT(named("a/../../k.npy"), HasSubstr("leads out of the archive"));
  EXPECT_THAT(named("C:\\k.npy"), HasSubstr("leads out of the archive"));
  EXPECT_EQ(named("q.npy"), "t.npz: two members have the same name");
  EXPECT_THAT(bytes_error("t.npz", zip({{"x.npy", q}})), HasSubstr("no array q (found: x)"));
  EXPECT_EQ(bytes_error("t.npz", "hello world"), "t.npz: is not a zip archive");
  // A header that declares more, less, and a bomb behind a small header.
  EXPECT_THAT(bytes_error("t.npz", zip({{"q.npy", npy("<f4", "(2, 4)", floats(6)), true}})),
              HasSubstr("wrong size"));
  const std::string bomb = q + std::string(50'000'000, '\0');
  EXPECT_THAT(bytes_error("t.npz", zip({{"q.npy", bomb, true}})), HasSubstr("wrong size"));
  /// Changes a field of the directory and of the member's header, where it lies 2 bytes before.
  const auto in_both = [](const std::string& archive, std::size_t field, const std::string& by) {
    return patched(patched(archive, archive.rfind("PK\x01\x02") + field, by), field - 2, by);
  };
  const std::string size = bytes_of<std::uint32_t>({static_cast<std::uint32_t>(q.size())});
  const std::string lying = zip({{"q.npy", bomb, true}});
  EXPECT_THAT(bytes_error("t.npz", in_both(lying, 24, size)),
              HasSubstr("holds more than it declares"));
  EXPECT_THAT(bytes_error("t.npz", patched(lying, lying.rfind("PK\x01\x02") + 24, size)),
              HasSubstr("damaged zip archive"));
  const std::string good = zip({{"q.npy", q}});
  EXPECT_THAT(bytes_error("t.npz", patched(good, good.find("PK\x01\x02") - 1, "?")),
              HasSubstr("wrong checksum"));
  EXPECT_THAT(bytes_error("t.npz", in_both(good, 8, "\1")), HasSubstr("is encrypted"));
  EXPECT_THAT(bytes_error("t.npz", in_both(good, 10, "\x0c")),
              HasSubstr("compression method 12 is not read"));
}

TEST_F(WrongInput, MembersOfAnNpzThatOverlap) {
  const std::string inner = zip({{"k.npy", npy("<f4", "(200, 3)", floats(600))}});
  const std::size_t directory = inner.rfind("PK\x01\x02"), end = inner.rfind("PK\x05\x06");
  // The bytes of q.npy are the whole member k.npy, which the directory lists as well.
  std::string outer = zip({{"q.npy", inner.substr(0, directory)}});
  const std::string second =
      patched(inner.substr(directory, end - directory), 42, bytes_of<std::uint32_t>({30 + 5}));
  const std::size_t outer_end = outer.rfind("PK\x05\x06");
  const auto both = static_cast<std::uint32_t>(2 * second.size());  // Names of the same length.
  outer = patched(outer, outer_end + 8, bytes_of<std::uint16_t>({2, 2}));
  outer = patched(outer, outer_end + 12, bytes_of<std::uint32_t>({both}));
  EXPECT_EQ(bytes_error("t.npz", outer.insert(outer_end, second)),
            "t.npz: damaged zip archive (its members are larger than the file)");
}

TEST_F(WrongInput, Safetensors) {
  const auto header = [&](const std::string& text) {
    return bytes_error("t.safetensors", safetensors(text, floats(6)));
  };
  const std::string q = R"("q":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";
  EXPECT_EQ(header("{" + q + "}"), "");
  EXPECT_THAT(header("{" + q + "," + q + "}"), HasSubstr("expected each key once"));
  EXPECT_THAT(header("{" + q), HasSubstr("malformed JSON"));
  EXPECT_THAT(header(R"({"q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})"),
              HasSubstr("has bytes after its tensors"));
  EXPECT_THAT(header(R"({"q":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}})"),
              HasSubstr("leave a hole"));
  EXPECT_THAT(header("{" + q + R"(,"k":{"dtype":"F32","shape":[1,1],"data_offsets":[20,24]}})"),
              HasSubstr("overlap others"));
  EXPECT_THAT(header(R"({"q":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}})"),
              HasSubstr("wrong size (expected 24 bytes for [2, 3] of F32, found 20)"));
  EXPECT_THAT(header(R"({"q":{"dtype":"F32","shape":[2,3],"data_offsets":[0,48]}})"),
              HasSubstr("wrong size"));
  EXPECT_THAT(header(R"({"q":{"dtype":"F32","shape":[4,3],"data_offsets":[0,48]}})"),
              HasSubstr("truncated: expected"));
  EXPECT_THAT(header(R"({"q":{"dtype":"I64","shape":[3,1],"data_offsets":[0,24]}})"),
              HasSubstr("found I64"));
  EXPECT_THAT(bytes_error("t.safetensors", patched(safetensors("{}", ""), 6, "\x7f")),
              HasSubstr("header too long"));
}

TEST_F(WrongInput, NamesAnArrayOfAGroupOfAnArchiveOnce) {
  spill(path("t.npz"), zip({{"layer3/q.npy", npy("<i4", "(2, 3)", std::string(24, '\0')), false}}));
  EXPECT_EQ(error_for("t.npz:/layer3"),
            "t.npz: layer3/q: wrong dtype (expected f16, f32, f64 or bf16, found <i4)");
  InputOptions options;
  options.query = "keys";
  EXPECT_EQ(error_for("t.npz:/layer3", options), "t.npz: layer3/keys: not found (found: q)");
  options.query = "layer3/q";
  EXPECT_EQ(error_for("t.npz:/layer3", options), "t.npz: layer3/layer3/q: not found (found: q)");
}

}  // namespace
}  // namespace conelab
