// The files of sim/report/html as text. sim/report/CMakeLists.txt makes page_parts.cpp of them.
#pragma once

#include <array>
#include <string_view>

namespace foretrace::report::html {

extern const char* const kPage;   ///< page.html
extern const char* const kStyle;  ///< style.css
// The scripts of either page, in the order in which they run.
extern const std::array<std::string_view, 12> kResultScripts;
extern const std::array<std::string_view, 5> kValidationScripts;

}  // namespace foretrace::report::html
