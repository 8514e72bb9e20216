// Which of the sealed samples that an earlier run left cannot be used any more.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace conelab {

/// The damaged ones of `files`, and why: those that were read and hold no record, and those that
/// make a process which reads nothing else crash. Damaged HDF5 can make its library crash, so
/// children read. `folder` is what they are in, for messages.
///
/// Fails, naming the file, where it cannot be found out: no process or descriptor to be had, no
/// memory, a file that may not be read, a disk that does not answer. Throws interrupted where
/// `cancelled`, polled throughout, says so.
[[nodiscard]] std::map<std::filesystem::path, std::string> find_damaged(
    const std::string& folder, const std::vector<std::filesystem::path>& files,
    const std::function<bool()>& cancelled);

}  // namespace conelab
