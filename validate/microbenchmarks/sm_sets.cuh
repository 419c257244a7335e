// SMs that belong together, told pair by pair.
//
// Models:  nothing: a union of sets.
#pragma once

#include <array>
#include <map>
#include <numeric>
#include <vector>

namespace bench {

class SmSets {
 public:
  SmSets() { std::iota(set_.begin(), set_.end(), 0u); }
  void join(unsigned a, unsigned b) { set_[root(a)] = root(b); }
  /// Of the SMs below `count`: each set's, in order of number.
  std::vector<std::vector<unsigned>> sets(unsigned count) const {
    std::map<unsigned, std::vector<unsigned>> found;
    for (unsigned sm = 0; sm < count; ++sm) found[root(sm)].push_back(sm);
    std::vector<std::vector<unsigned>> all;
    for (const auto& [first, members] : found) all.push_back(members);
    return all;
  }

 private:
  unsigned root(unsigned sm) const {
    while (set_[sm] != sm) sm = set_[sm];
    return sm;
  }
  std::array<unsigned, 256> set_{};
};

}  // namespace bench
