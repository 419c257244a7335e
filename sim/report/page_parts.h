// The files of sim/report/html as text. sim/report/CMakeLists.txt makes page_parts.cpp of them.
#pragma once

#include <array>
#include <string_view>

namespace foretrace::report::html {

extern const char* const kPage;                          ///< page.html
extern const char* const kStyle;                         ///< style.css
extern const std::array<std::string_view, 11> kScripts;  ///< in the order in which they run

}  // namespace foretrace::report::html
