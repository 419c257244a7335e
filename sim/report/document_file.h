// A file that is replaced again and again by a document that grows.
//
// Models:  whoever opens the file reads a whole text, that of the moment when it was opened, also where the process has been killed.
//          A large document is written in turns into two files, which then change places: into each goes only what is new since its
//          last turn, so that what is written grows with the document, not with its square. The one that is not shown is called
//          FILE.partial-PROCESS; a process that is killed leaves it there, and the next one that writes FILE removes it.
// Ignores: power failures: nothing waits for the disk. File systems where files cannot change places or that have no leases (fcntl(2)),
//          and files that somebody reads or changed meanwhile: the whole text is written then, by renaming, as a small one always is.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/report/document_text.h"

namespace foretrace::report {

class DocumentFile {
 public:
  struct Written {
    std::uint64_t bytes = 0;
    bool whole = false;  ///< all of the text
  };
  /// Documents of up to `small` bytes are written as a whole.
  explicit DocumentFile(std::string path, std::uint64_t small = std::uint64_t{32} << 20);
  /// Throws InputError naming the file; it then is as it was.
  Written replace(const TextParts& text) { return write(text, false); }
  /// For the last time: nothing but the file is left. A device or a pipe takes the text itself.
  Written finish(const TextParts& text) { return write(text, true); }

 private:
  /// A file that was written here, and how it was left.
  struct Version {
    TextParts text;
    struct ::stat left = {};
  };
  Written write(const TextParts& text, bool last);
  std::optional<Written> renew_spare(const TextParts& text);
  void show(bool keep);
  [[noreturn]] void give_up() const;

  std::string name_, path_, partial_;  // as given; behind links; beside it
  std::uint64_t small_;
  std::optional<Version> shown_, spare_;  // as path_, as partial_; nothing: there is none, or it is not ours
};

/// When a document is written next that was begun to be written at `begin` and was done at `end`: once a second, what writing takes
/// included; of one that had to be written as a whole, less often where that takes long.
std::chrono::steady_clock::time_point next_writing(std::chrono::steady_clock::time_point begin,
                                                   std::chrono::steady_clock::time_point end, bool whole);

}  // namespace foretrace::report
