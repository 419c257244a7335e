// Formulas of derived values: arithmetic over other keys.
//
// Models:  + - * / with the usual precedence, parentheses, unary minus, numbers, key names, and min max ceil floor.
//          min and max take any number of arguments; a list key gives all its elements to them.
// Ignores: everything else; an unknown name or function is an error, never 0.
// Source:  our own; the formula stands beside the key in configs/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrace::config {

/// Value(s) of a key. Called for each key name in the formula; throws InputError for a name that is no key.
using Lookup = std::function<std::vector<double>(std::string_view key)>;

/// The formula's value. Throws InputError with what is wrong and the column, without saying where the formula stands
/// (the caller knows file, line and key).
double evaluate(std::string_view formula, const Lookup& lookup);

}  // namespace foretrace::config
