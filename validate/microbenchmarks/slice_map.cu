// Which slice of L2 does each line of a 2 MiB page lie in?
//
// Models:  all SMs add to two lines in turn; in one slice the lines wait for each other, in two they do not. Every line of the first page is
//          tried against one line of each slice found so far, and is the first of a new slice where it waits for none; some lines of other pages
//          are tried against the same ones, so that their slices have the same numbers. Numbers are by the order in which slices were found.
// Ignores: which partition a slice is in; the physical pages behind neighbouring 2 MiB, which are by chance.
// Source:  the SMs' clocks.
#include "slice_pairs.cuh"

using namespace bench;

constexpr unsigned kSome = 64;

int main() {
  const std::vector<unsigned> pages = {0,   1,   2,   3,    4,    8,    12,   16,   32,   64,
                                       128, 256, 512, 1024, 1536, 2048, 4096, 8192, 16384};
  Buffer<char> memory((pages.back() + 2) * kPage);
  char* const base = memory.get() + (kPage - reinterpret_cast<std::uintptr_t>(memory.get()) % kPage) % kPage;
  SlicePairs slices(base);
  const double alone = slices.same, apart = slices.apart, limit = slices.limit();
  Answer("slice_map", "adding to one line and to two of different slices: cycles")
      .add("same", alone)
      .print(apart, "cycle", slices.range);

  std::vector<unsigned> found;  // a line of each slice
  for (const unsigned page : pages) {
    const unsigned step =
        page == 0 ? 1 : kLines / kSome + 2;  // neither lines at one place of each granule nor of one slice
    std::vector<int> slice(kLines, -1);
    unsigned known = 0;
    double doubtful = 0;
    for (;;) {
      std::vector<unsigned> left;
      for (unsigned i = 0; i < kLines; i += step) {
        if (slice[i] < 0) left.push_back(page * kLines + i);
      }
      if (left.empty()) break;
      if (known == found.size()) {
        if (page != 0 || found.size() == 128) break;  // none that the first page has not
        found.push_back(left.front());
      }
      const std::vector<unsigned> taken = slices.times(found[known], left);
      for (std::size_t i = 0; i < left.size(); ++i) {
        if (taken[i] > limit || left[i] == found[known])
          slice[left[i] - page * kLines] = static_cast<int>(known);
        if (taken[i] > limit - (alone - apart) / 8 && taken[i] < limit + (alone - apart) / 8) ++doubtful;
      }
      ++known;
    }
    std::string text;
    for (unsigned i = 0; i < kLines; i += step) {
      char two[8];
      std::snprintf(two, sizeof two, "%02x", slice[i] < 0 ? 255u : static_cast<unsigned>(slice[i]));
      text += two;
    }
    Answer("slice_map", "slices of a page's lines, every step-th, two hexadecimal digits each")
        .add("page", page)
        .add("step", step)
        .add("doubtful", doubtful)
        .add_text("map", text)
        .print(static_cast<double>(found.size()), "slice", 0);
  }
  return 0;
}
