// How long ago each of a set's lines was used, to the stretch: accesses to the set are counted in stretches, and lines that were used last
// in the same stretch are as old as each other.
//
// Models:  lists of lines, each in order of age; one of the lines of a list's oldest stretch is as good as another to go.
// Source:  validate/microbenchmarks/l1_replacement.cu (H200): which of the old lines goes is not their order, within a stretch.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrace::sm {

class LineAges {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  LineAges(std::uint32_t lines, std::uint32_t lists) : at_(lines), lists_(lists) {}

  /// Puts `line`, which is in no list, into `list` with the age of `stretch`. Most are put in with the newest one.
  void add(std::uint32_t list, std::uint32_t line, std::uint32_t stretch);
  void remove(std::uint32_t line);
  /// One of the lines of the oldest stretch of the list, which is not empty: `any` chooses it.
  std::uint32_t oldest(std::uint32_t list, std::uint32_t any) const {
    const std::vector<std::uint32_t>& lines = groups_[lists_[list].oldest].lines;
    return lines[any % lines.size()];
  }
  std::uint32_t count(std::uint32_t list) const { return lists_[list].lines; }
  /// The list that a line is in, kNone: in none.
  std::uint32_t list_of(std::uint32_t line) const {
    return at_[line].group == kNone ? kNone : groups_[at_[line].group].list;
  }
  std::uint32_t stretch_of(std::uint32_t line) const { return groups_[at_[line].group].stretch; }

 private:
  struct Place {
    std::uint32_t group = kNone, index = 0;
  };
  struct Group {  // the lines of a list that were used last in one stretch
    std::uint32_t list = 0, stretch = 0, older = kNone, younger = kNone;
    std::vector<std::uint32_t> lines;
  };
  struct List {
    std::uint32_t oldest = kNone, youngest = kNone, lines = 0;
  };
  std::uint32_t take_group(std::uint32_t list, std::uint32_t stretch, std::uint32_t older);

  std::vector<Place> at_;  // by line
  std::vector<List> lists_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;  // groups without lines
};

}  // namespace foretrace::sm
