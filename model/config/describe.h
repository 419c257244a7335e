// What `foretrace arch` prints.
//
// Models:  text for a reader: the list of chips, and one chip's values with their sources.
// Ignores: JSON (Loaded has every field that a document needs).
// Source:  the loaded configuration.
#pragma once

#include <filesystem>
#include <string>

#include "model/config/load.h"

namespace foretrace::config {

/// One line per chip: name, machine code, SMs, clocks in MHz, L2 and DRAM sizes, bandwidth, alias, and how many numbers are
/// transferred from other chips or assumed.
/// Throws InputError when a configuration is wrong.
std::string describe_chips(const std::filesystem::path& directory = config_directory());

/// How the chip is known, then its values, one per line in groups: key, value, unit, kind; with `sources` also range, formula,
/// source, the dies it was found on, file and line.
std::string describe_chip(const Loaded& loaded, bool sources);

}  // namespace foretrace::config
