if(TARGET foretrace_emulate AND TARGET foretrace_frontend)
  add_executable(emulator_benchmark ${CMAKE_CURRENT_LIST_DIR}/emulator_benchmark.cpp)
  target_link_libraries(emulator_benchmark PRIVATE
    foretrace_options foretrace_emulate foretrace_frontend benchmark::benchmark)
  target_compile_definitions(emulator_benchmark PRIVATE FORETRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
