#include "sim/report/document_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/trace/behind_links.h"

namespace foretrace::report {
namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw InputError(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

/// Closed at the end: nothing stays open in somebody else's program.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ < 0) return;
    (void)fcntl(number_, F_SETLEASE,
                F_UNLCK);  // a process that was forked meanwhile may go on to have it open
    close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t done = ::write(number_, text.data(), text.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
  }
  /// Nobody else has it open, nor can open it while this is.
  bool alone() const {
    // Whoever tries to open it is announced by a signal; not by one that would end the program.
    return fcntl(number_, F_SETSIG, SIGURG) == 0 && fcntl(number_, F_SETLEASE, F_WRLCK) == 0;
  }

 private:
  int number_;
};

off_t size_of(TextParts::const_iterator begin, TextParts::const_iterator end) {
  return std::accumulate(begin, end, off_t{0}, [](off_t sum, const TextPart& part) {
    return sum + static_cast<off_t>(part->size());
  });
}

/// How many of their first parts are the same.
std::size_t common(const TextParts& a, const TextParts& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

bool write_parts(const Descriptor& file, TextParts::const_iterator begin, TextParts::const_iterator end) {
  return std::all_of(begin, end, [&](const TextPart& part) { return file.write(*part); });
}

bool is_special(const std::string& path) {
  struct ::stat found = {};
  return stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

/// It is the same file, and nobody has changed it.
bool same(const struct ::stat& a, const struct ::stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

/// Writes what stands behind the first `kept` parts, which the file has. False: errno says why not.
bool fill(const Descriptor& file, const TextParts& text, std::size_t kept) {
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(kept);
  const off_t place = size_of(text.begin(), from);
  return lseek(file.number(), place, SEEK_SET) == place && write_parts(file, from, text.end()) &&
         ftruncate(file.number(), place + size_of(from, text.end())) == 0;
}

}  // namespace

DocumentFile::DocumentFile(std::string path, std::uint64_t small)
    : name_(std::move(path)), path_(trace::behind_links(name_)), partial_(trace::partial_of(path_)),
      small_(small) {}

void DocumentFile::give_up() const {
  const int error = errno;
  unlink(partial_.c_str());
  fail(name_, error);
}

/// Brings the file that is not shown up to date; nothing: there is none that could be.
std::optional<DocumentFile::Written> DocumentFile::renew_spare(const TextParts& text) {
  if (!spare_) return std::nullopt;
  const Version before = *std::exchange(spare_, std::nullopt);
  const Descriptor file(partial_, O_RDWR | O_NOFOLLOW);
  struct ::stat found = {};
  if (!file || fstat(file.number(), &found) != 0 || !same(found, before.left) || !file.alone())
    return std::nullopt;
  const std::size_t kept = common(before.text, text);
  spare_ = Version{text, {}};
  if (!fill(file, text, kept) || fstat(file.number(), &spare_->left) != 0) {
    spare_.reset();
    give_up();
  }
  return Written{
      static_cast<std::uint64_t>(size_of(text.begin() + static_cast<std::ptrdiff_t>(kept), text.end())),
      false};
}

DocumentFile::Written DocumentFile::write(const TextParts& text, bool last) {
  const auto bytes = static_cast<std::uint64_t>(size_of(text.begin(), text.end()));
  if (last && is_special(path_)) {
    const Descriptor file(path_, O_WRONLY | O_TRUNC);
    if (!file || !write_parts(file, text.begin(), text.end())) fail(name_, errno);
    return {bytes, true};
  }
  if (!shown_) trace::remove_left_over(path_);
  std::optional<Written> written = renew_spare(text);
  if (!written) {
    unlink(partial_.c_str());
    const Descriptor file(partial_, O_RDWR | O_CREAT | O_EXCL);
    Version whole{text, {}};
    if (!file || !fill(file, text, 0) || fstat(file.number(), &whole.left) != 0) give_up();
    spare_ = std::move(whole);
    written = Written{bytes, true};
  }
  show(!last && bytes > small_);
  return *written;
}

/// What was written gets the file's name. `keep`: what has had it so far is written next.
void DocumentFile::show(bool keep) {
  struct ::stat found = {};
  const bool ours = shown_ && lstat(path_.c_str(), &found) == 0 && same(found, shown_->left);
  if (keep && ours && renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    std::swap(shown_, spare_);
    return;
  }
  Version now = *std::exchange(spare_, std::nullopt);
  if (rename(partial_.c_str(), path_.c_str()) != 0) give_up();
  shown_ = std::move(now);
}

std::chrono::steady_clock::time_point next_writing(std::chrono::steady_clock::time_point begin,
                                                   std::chrono::steady_clock::time_point end, bool whole) {
  constexpr std::chrono::milliseconds kPeriod(800);  // a document may take the rest of the second
  return whole ? std::max(begin + kPeriod, end + (end - begin)) : begin + kPeriod;
}

}  // namespace foretrace::report
