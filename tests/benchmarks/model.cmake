if(TARGET foretrace_engine AND TARGET foretrace)
  add_executable(model_benchmark ${CMAKE_CURRENT_LIST_DIR}/model_benchmark.cpp)
  target_link_libraries(model_benchmark PRIVATE
    foretrace_options foretrace_config foretrace_engine foretrace_frontend foretrace_launch benchmark::benchmark)
  target_compile_definitions(model_benchmark PRIVATE FORETRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

  # What scripts/benchmark runs.
  add_executable(speed_benchmark EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/speed_benchmark.cpp)
  target_link_libraries(speed_benchmark PRIVATE
    foretrace_options foretrace_config foretrace_engine foretrace_frontend foretrace_launch)

  # Everything that says how fast this is: cmake --build BUILD --target foretrace_benchmarks
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_custom_target(foretrace_benchmarks
    COMMAND emulator_benchmark
    COMMAND model_benchmark
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/whole_program.py $<TARGET_FILE:foretrace> ${PROJECT_SOURCE_DIR}
    DEPENDS emulator_benchmark model_benchmark foretrace USES_TERMINAL)
endif()
