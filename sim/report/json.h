// The result document as JSON: written, and read back.
//
// Models:  docs/json_schema.json, schema 2. The same result gives the same bytes: keys in a fixed order,
//          whole numbers without a point, other numbers in the shortest form that reads back to the same
//          double.
// Ignores: documents of other schemas but 1, which are read: they are refused by number. Keys it does not know.
// Source:  docs/json.md.
#pragma once

#include <string>
#include <string_view>

#include "sim/report/document.h"
#include "sim/report/program_result.h"

namespace foretrace::report {

/// The document's text, ending with a newline. `program`: of a program that was run; may be null.
std::string to_json(const Document& document, const ProgramResult* program = nullptr);

/// Reads what to_json wrote. `name` is the file's name in errors.
/// Throws InputError in one line when the text is no JSON, no result document, of another schema, or misses a
/// key.
Document from_json(std::string_view text, const std::string& name);

/// The text of a result document with the gains of these predictions added, and what their verdicts say of them; all else stays as it was.
std::string with_gains(const std::string& text, const Document& document,
                       const std::vector<std::size_t>& predictions);

/// Throws InputError where write_file() could not write this file: before what is to be written is computed.
void check_writable(const std::string& path);

/// Writes text to a file ("-": standard output is the caller's), whole or not at all. Throws InputError
/// naming the file.
void write_file(const std::string& path, std::string_view text);
/// A file's bytes. Throws InputError naming the file.
std::string read_file(const std::string& path);

}  // namespace foretrace::report
