// The shipped trace with tokens whose numbers are not finite, as a model that diverged writes them.
#pragma once

#include <QFile>
#include <QTemporaryDir>
#include <cmath>
#include <vector>

#include "core/files/hdf5_read.h"
#include "tests/widgets/driving.h"

namespace conelab::desktop {

/// Of head 5 of /german/layer3: the query and the key that hold NaN throughout.
constexpr int unplaced_query = 4, unplaced_key = 8;

/// The copy's path. All queries of the head hold NaN if `all_queries`.
inline QString trace_with_unplaced_tokens(const QTemporaryDir& folder, bool all_queries = false) {
  QString copy = folder.filePath("unplaced.h5");
  EXPECT_TRUE(QFile::copy(QString::fromStdString(shipped_trace()), copy));
  EXPECT_TRUE(QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner));
  const hdf5::Lock lock;
  const hdf5::File file(H5Fopen(copy.toUtf8().constData(), H5F_ACC_RDWR, H5P_DEFAULT));
  const auto write_nan = [&](const char* path, hsize_t token, hsize_t tokens) {
    const hdf5::Dataset dataset(H5Dopen2(file.id(), path, H5P_DEFAULT));
    const hdf5::Space space(H5Dget_space(dataset.id()));
    const hsize_t start[] = {5, token, 0}, count[] = {1, tokens, 32};
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start, nullptr, count, nullptr);
    const hdf5::Space numbers(H5Screate_simple(3, count, nullptr));
    const std::vector<float> nan(32 * tokens, std::nanf(""));
    EXPECT_GE(
        H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, numbers.id(), space.id(), H5P_DEFAULT, nan.data()),
        0);
  };
  write_nan("/german/layer3/q", unplaced_query, 1);
  write_nan("/german/layer3/k", unplaced_key, 1);
  if (all_queries) write_nan("/german/layer3/q", 0, 30);
  return copy;
}

}  // namespace conelab::desktop
