# Shared by scripts/*: where the repository is, and where the CUDA compiler's parts are. To be sourced by bash.

set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

# The compiler parts, as they stand on PyPI. One release, 13.0, so that a prediction here and a measurement on a machine
# with the toolkit of that release are of the same machine code.
cuda_compiler_packages=(
  nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.88 nvidia-cuda-cccl==13.0.85)
# PyPI has no nvdisasm of 13.0. This one prints the same `-c -hex` text for our corpus; a test holds it to that.
cuda_disassembler_packages=(nvidia-cuda-nvdisasm==13.2.51)

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

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
