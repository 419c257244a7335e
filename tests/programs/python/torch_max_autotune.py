"""Inductor's max-autotune on a product of two matrices: which configuration it takes for the chip that it is told of, and the times it saw.

    foretrace run --arch h100 -- python torch_max_autotune.py [ROWS]

Inductor measures candidates by events; under `foretrace run` these are predicted times. One launch of each is timed (foretrace_torch),
because a prediction is the same in every repeat. cuBLAS's own product is no candidate here.
"""

import re
import sys

import torch
from checks import close, finish

import foretrace_torch  # noqa: F401  the product that eager PyTorch gives to cuBLAS; before Inductor, for one launch of each candidate
from torch._inductor import config, select_algorithm  # isort: skip

size = int(sys.argv[1]) if len(sys.argv) > 1 else 512
config.max_autotune_gemm_backends = "TRITON"
config.max_autotune_gemm_search_space = "DEFAULT"
config.autotune_in_subproc = False
config.fx_graph_cache = config.autotune_local_cache = False  # each run measures
SEEN = []
select_algorithm.add_feedback_saver(lambda timings, *_: SEEN.append(dict(timings)))


def description(choice):
    """128x64x32 w4 s3: the tile, warps, stages."""
    words = dict(re.findall(r"(BLOCK_M|BLOCK_N|BLOCK_K|num_warps|num_stages)\s*=\s*(\d+)", str(getattr(choice, "description", ""))))
    return "{BLOCK_M}x{BLOCK_N}x{BLOCK_K} w{num_warps} s{num_stages}".format_map(words) if len(words) == 5 else choice.name


torch.manual_seed(0)
a, b = torch.randn(size, size).half(), torch.randn(size, size).half()
got = torch.compile(torch.mm, mode="max-autotune-no-cudagraphs")(a.cuda(), b.cuda())
close("product", got, a.float() @ b.float(), 2e-3)
print(f"{torch.cuda.get_device_name(0)}, {size}x{size}x{size}, {len(SEEN[0])} candidates")
for choice, time in sorted(SEEN[0].items(), key=lambda item: item[1]):
    print(f"  {description(choice):24} {time * 1000:8.2f} us")
finish()
