// Ranks over MPI. The thread that starts the job makes all calls.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <malloc.h>
#include <mpi.h>

#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "app/output.h"
#include "app/ranks.h"
#include "core/base/current_exception.h"
#include "core/base/error.h"

namespace conelab {
namespace {

/// MPI counts in int, so that longer messages are sent in pieces.
constexpr std::size_t longest_piece = std::size_t{1} << 30;
constexpr int failure_tag = 32767;  ///< The largest that every MPI has.
constexpr std::chrono::milliseconds time_for_others{300};
constexpr std::chrono::seconds longest_wait{20};

/// Keeps up to 256 MB of freed memory in the process, so that the results of the next pair of
/// blocks cause no page faults. An array of 32 MB and more is given back all the same.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

class MpiRanks final : public JobRanks {
 public:
  MpiRanks() {
    keep_freed_memory();
    int level = 0, is_there = 0;
    MPI_Initialized(&is_there);
    if (is_there == 0 && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != 0) {
      fail("MPI does not start");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  bool done(Transfer& transfer) override {
    if (rank_ == 0) throw_failure_of_others();
    if (!transfer) return true;
    auto& requests = *std::static_pointer_cast<Requests>(transfer);
    int all = 0;
    check(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE));
    if (all != 0) transfer.reset();
    return all != 0;
  }

  void leave() override {
    MPI_Request all_are_here = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(MPI_COMM_WORLD, &all_are_here));
    Transfer barrier = std::make_shared<Requests>(1, all_are_here);
    wait(barrier);
    MPI_Finalize();
  }

  [[noreturn]] void end_all() override {
    const auto [status, message] = describe_current_exception();
    if (rank_ > 0) {
      const std::string notice = std::string(1, static_cast<char>(status)) + message;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(notice.data(), static_cast<int>(notice.size()), MPI_CHAR, 0, failure_tag,
                MPI_COMM_WORLD, &request);
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - start < longest_wait) {
        int sent = 0;
        if (request != MPI_REQUEST_NULL) MPI_Test(&request, &sent, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    be_silent(false);
    print_error(rank_ == 0 ? message : fmt::format("rank {}: {}", rank_, message));
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

 protected:
  Transfer start_send(int to, int tag, const void* bytes, std::size_t count) override {
    return in_pieces(count, [&](std::size_t at, int size, MPI_Request* request) {
      check(MPI_Isend(static_cast<const char*>(bytes) + at, size, MPI_BYTE, to, tag, MPI_COMM_WORLD,
                      request));
    });
  }
  Transfer start_receive(int from, int tag, void* bytes, std::size_t count) override {
    return in_pieces(count, [&](std::size_t at, int size, MPI_Request* request) {
      check(MPI_Irecv(static_cast<char*>(bytes) + at, size, MPI_BYTE, from, tag, MPI_COMM_WORLD,
                      request));
    });
  }

 private:
  using Requests = std::vector<MPI_Request>;
  int rank_ = 0, size_ = 1;

  template <class Start>
  static Transfer in_pieces(std::size_t count, const Start& start) {
    auto requests = std::make_shared<Requests>();
    for (std::size_t at = 0; at < count; at += longest_piece) {
      requests->push_back(MPI_REQUEST_NULL);
      start(at, static_cast<int>(std::min(longest_piece, count - at)), &requests->back());
    }
    return requests;
  }

  static void check(int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    fail("MPI: {}", text);
  }

  /// Throws the error of the lowest rank that has failed, if any has. Others have a moment to
  /// report theirs.
  static void throw_failure_of_others() {
    std::map<int, std::string> notices;
    const auto collect = [&] {
      int found = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, MPI_COMM_WORLD, &found, &status);
      if (found == 0) return false;
      int length = 0;
      MPI_Get_count(&status, MPI_CHAR, &length);
      std::string& notice = notices[status.MPI_SOURCE];
      notice.resize(static_cast<std::size_t>(length));
      MPI_Recv(notice.data(), length, MPI_CHAR, status.MPI_SOURCE, failure_tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      return true;
    };
    if (!collect()) return;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < time_for_others) collect();
    const auto& [rank, notice] = *notices.begin();
    throw Error(static_cast<ErrorKind>(static_cast<unsigned char>(notice.front())),
                fmt::format("rank {}: {}", rank, notice.substr(1)));
  }
};

}  // namespace

bool has_mpi() { return true; }

std::unique_ptr<JobRanks> join_ranks() { return std::make_unique<MpiRanks>(); }

}  // namespace conelab
