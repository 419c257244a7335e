# Shared by scripts/*: where the repository is, and where the CUDA compiler's parts are. To be sourced by bash.

set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# The compiler's parts, as pyproject.toml lists them: nvcc with what it needs, and nvdisasm.
mapfile -t cuda_disassembler_packages < <(sed -n 's/^  "\(nvidia-[^"]*nvdisasm==[^"]*\)",$/\1/p' "$root/pyproject.toml")
mapfile -t cuda_compiler_packages < <(sed -n '/nvdisasm/d; s/^  "\(nvidia-[^"]*==[^"]*\)",$/\1/p' "$root/pyproject.toml")

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }
# What a script was given that it cannot use: says what was expected.
refuse() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }

# take OPTION... -- WORD...: refuses what is none of the options.
take() {
  local known=() word
  while [[ "$1" != -- ]]; do known+=("$1"); shift; done
  shift
  for word in "$@"; do
    [[ -n "$word" && " ${known[*]} " == *" $word "* ]] || refuse "$word: expected ${known[*]:-no words}"
  done
}

# cuda_tool NAME: prints the path of nvcc or nvdisasm in the order in which foretrace itself looks; status 1 if there is none.
cuda_tool() {
  local name="$1" variable candidate
  variable="FORETRACE_$(printf '%s' "$name" | tr '[:lower:]' '[:upper:]')"
  if [[ -n "${!variable:-}" ]]; then
    [[ -x "${!variable}" ]] || return 1
    printf '%s\n' "${!variable}"
    return 0
  fi
  for candidate in "$root"/.venv/lib/python3*/site-packages/nvidia/cu13/bin/"$name"; do
    if [[ -x "$candidate" ]]; then printf '%s\n' "$candidate"; return 0; fi
  done
  if command -v "$name" 2>/dev/null; then return 0; fi
  if [[ -x "/usr/local/cuda/bin/$name" ]]; then printf '%s\n' "/usr/local/cuda/bin/$name"; return 0; fi
  return 1
}
