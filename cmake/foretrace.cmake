# The two ways things are declared in this project: a room (a static library) and a test.

add_library(foretrace_options INTERFACE)
target_include_directories(foretrace_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(foretrace_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # gcc's -Wconversion leaves signs out in C++, clang's does not
  target_compile_options(foretrace_options INTERFACE -Wno-sign-conversion)
endif()
if(FORETRACE_WARNINGS_AS_ERRORS)
  target_compile_options(foretrace_options INTERFACE -Werror)
endif()

# Rooms that most of the time is spent in use the instructions that the emulator needs anyway (main.cpp of sim/app looks for them).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(FORETRACE_HOT_OPTIONS -march=x86-64-v3)
endif()

# foretrace_missing(<text>): something is left out for want of what the text names; with FORETRACE_REQUIRE_ALL=1 in the environment, as CI has it, an error.
function(foretrace_missing text)
  if("$ENV{FORETRACE_REQUIRE_ALL}" STREQUAL "1")
    message(FATAL_ERROR "${text} (FORETRACE_REQUIRE_ALL)")
  endif()
  message(STATUS "${text}")
endfunction()

# foretrace_precompiled(<target> [SAME_AS <target>] [headers ...]): with FORETRACE_QUICK_BUILD the target's sources begin with what most include,
# and these headers. SAME_AS: a target with the same options, whose precompiled headers are taken.
function(foretrace_precompiled target)
  cmake_parse_arguments(HEADERS "" "SAME_AS" "" ${ARGN})
  if(NOT FORETRACE_QUICK_BUILD)
    return()
  endif()
  if(HEADERS_SAME_AS)
    target_precompile_headers(${target} REUSE_FROM ${HEADERS_SAME_AS})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <string> <utility> <vector>
                              <fmt/format.h> ${HEADERS_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# foretrace_cold(<target>): no time is spent in it, so that FORETRACE_QUICK_BUILD compiles it with -O1.
function(foretrace_cold target)
  if(FORETRACE_QUICK_BUILD)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# foretrace_united(<target>): FORETRACE_QUICK_BUILD compiles the target's sources by the dozen, so that what they share is parsed once. Their files
# have no names alike in anonymous namespaces (rule united of tests/project/rules.py).
function(foretrace_united target)
  if(FORETRACE_QUICK_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

# foretrace_room(<name> [HOT] SOURCES a.cpp ... DEPENDS foretrace_units fmt::fmt ...): target foretrace_<name>.
function(foretrace_room name)
  cmake_parse_arguments(ROOM "HOT" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(foretrace_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(foretrace_${name} PUBLIC foretrace_options fmt::fmt ${ROOM_DEPENDS})
  if(ROOM_HOT AND FORETRACE_HOT_OPTIONS)
    target_compile_options(foretrace_${name} PRIVATE ${FORETRACE_HOT_OPTIONS})
  endif()
  foretrace_united(foretrace_${name})
  if(NOT ROOM_HOT AND NOT name STREQUAL units)
    foretrace_precompiled(foretrace_${name} SAME_AS foretrace_units)
    if(name MATCHES "^(config|launch|host|run_settings|report|compare|validate|calibrate|collective)$")
      foretrace_cold(foretrace_${name})
    endif()
  elseif(ROOM_HOT AND name MATCHES "^(rules|memory|gpu)$")
    foretrace_precompiled(foretrace_${name} SAME_AS foretrace_work)
  else()
    foretrace_precompiled(foretrace_${name})
  endif()
endfunction()

# foretrace_test(<name> SOURCES a.cpp ... DEPENDS foretrace_x ... [LABELS l ...]): one GoogleTest binary, ctest name <name>.
# Its label is fast unless others are given: cuda where it needs a CUDA compiler, full where it takes minutes; sanitized beside them where
# scripts/test runs it under sanitizers too, sanitized_deep where --deep does. Targets fast, sanitized and sanitized_deep build those tests.
# It may read the repository through the macro FORETRACE_SOURCE_DIR and write under FORETRACE_BINARY_DIR.
foreach(label fast sanitized sanitized_deep)
  add_custom_target(${label})
endforeach()
function(foretrace_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE foretrace_options ${TEST_DEPENDS} GTest::gtest_main fmt::fmt)
  target_compile_definitions(${name} PRIVATE
    FORETRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FORETRACE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT TEST_LABELS)
    set(TEST_LABELS fast)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}")
  foreach(label IN LISTS TEST_LABELS)
    if(TARGET ${label})
      add_dependencies(${label} ${name})
    endif()
  endforeach()
endfunction()
