"""A study of 2,000 points: 20 kernels of 0.3 to 1 million warp instructions, each on 100 changed H100s.

    python3 docs/studies/two_thousand.py FOLDER
    foretrace sweep FOLDER/study.toml --csv FOLDER/study.csv

writes FOLDER/study.toml; the sweep compiles and records each kernel once (nvcc needed), then simulates 2,000 points. What was done when it is
stopped, in any way, is kept. `--shard 1/20` of the sweep is a part of 100 points, five of each kernel.
"""

import json
import pathlib
import sys
import tomllib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
LAUNCHES = {
    "kernels/copy": ["copy_float_n2_20"],
    "kernels/ffma_chain": ["ffma_chain_medium"],
    "kernels/sgemm_register": ["sgemm_register_256", "sgemm_register_float4_256"],
    "kernels/transpose": ["transpose_naive_1024x1024", "transpose_tile32_1024x1024", "transpose_tile33_1024x1024"],
    "suite/activation/residual_add": ["residual_add_2048x1024"],
    "suite/dynamic_programming/floyd_warshall": ["floyd_step_n1000"],
    "suite/dynamic_programming/smith_waterman": ["smith_waterman_p20_l100"],
    "suite/finance/binomial_option": ["binomial_option_o20"],
    "suite/gather/scatter": ["scatter_n2_20"],
    "suite/gemm_tensor/mma_f16": ["mma_f16_512x512x512"],
    "suite/gemm_tensor/wmma_bf16": ["wmma_bf16_512x512x512"],
    "suite/graph/page_rank": ["page_rank_5kx12"],
    "suite/histogram/histogram_shared": ["histogram_shared_uniform_q2_20"],
    "suite/linear_solve/lu_shared": ["lu_shared_b10"],
    "suite/matrix_sum/row_sums": ["row_sums_warp_8192x100"],
    "suite/matrix_vector/gemv": ["gemv_rows_2048x2048"],
    "suite/permute/permute_4d": ["permute_4d_8x16x32x20"],
}
STUDY = """arch = ["h100"]

[set]
"sm.count" = [100, 116, 132, 144, 160]
"l2.latency" = [45, 50, 56, 62, 68]
"dram.latency" = [160, 180, 202, 240]
"""


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: two_thousand.py FOLDER", file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    text = STUDY
    for file, names in LAUNCHES.items():
        launches = tomllib.loads((REPOSITORY / "validate" / f"{file}.toml").read_text())
        source = REPOSITORY / "validate" / pathlib.PurePath(file).parent / launches["source"]
        for launch in launches["launch"]:
            if launch["name"] in names:
                keys = {key: launch[key] for key in ("name", "kernel", "grid", "block", "args", "shared", "define") if key in launch}
                text += f"\n[[kernel]]\nsource = {json.dumps(str(source))}\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    (folder / "study.toml").write_text(text)
    print(folder / "study.toml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
