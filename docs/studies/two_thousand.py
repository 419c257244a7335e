"""A study of 2,000 points: 20 kernels of 0.3 to 1 million warp instructions, each on 100 changed H100s.

    python3 docs/studies/two_thousand.py FOLDER [--record]
    foretrace sweep FOLDER/study.toml --csv FOLDER/study.csv

writes FOLDER/study.toml; the sweep compiles and records each kernel once (nvcc needed), then simulates 2,000 points. What was done when it is
stopped, in any way, is kept. `--shard 1/20` of the sweep is a part of 100 points, five of each kernel. With --record the kernels are recorded
now, into FOLDER/NAME.trace, and the study is one of these traces: it then needs no compiler, and can be run elsewhere.
"""

import json
import pathlib
import shutil
import sys
import tomllib

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "scripts"))
import usable  # noqa: E402
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


def kernels() -> str:
    """The launches as tables of a study."""
    text = ""
    for file, names in LAUNCHES.items():
        launches = tomllib.loads((REPOSITORY / "validate" / f"{file}.toml").read_text())
        source = REPOSITORY / "validate" / pathlib.PurePath(file).parent / launches["source"]
        for launch in launches["launch"]:
            if launch["name"] in names:
                keys = {key: launch[key] for key in ("name", "kernel", "grid", "block", "args", "shared", "define") if key in launch}
                text += f"\n[[kernel]]\nsource = {json.dumps(str(source))}\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return text


def record(folder: pathlib.Path) -> list[str]:
    """Records every kernel of FOLDER/study.toml; the names of the traces."""
    import foretrace.sweep  # the package, which PYTHONPATH or pip brings

    study, names = foretrace.sweep.Study(folder / "study.toml"), []
    for work, _ in study.works:
        names.append(f"{work.split()[0]}.trace")
        shutil.move(foretrace.sweep._record(study, work, study.arch[0]), folder / names[-1])
        print(names[-1], flush=True)
    study.traces.rmdir()
    return names


def main() -> int:
    parser = usable.Parser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--record", action="store_true", help="record the kernels now: a study of traces")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    file = chosen.folder / "study.toml"
    file.write_text(STUDY + kernels())
    if chosen.record:
        traces = record(chosen.folder)
        file.write_text(STUDY.replace("\n[set]", f"trace = {json.dumps(traces)}\n\n[set]", 1))
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
