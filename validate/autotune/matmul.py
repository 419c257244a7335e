"""The product that is tuned: Triton's tutorial's, fp16 in and out with fp32 sums, and the configurations that its autotuner compares."""

import triton
import triton.language as tl


def _config(block_m, block_n, block_k, warps, stages):
    return triton.Config({"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}, num_warps=warps, num_stages=stages)


# Seven of the tutorial's for FP16 on NVIDIA's GPUs, and three with other tiles and depths.
CONFIGS = [_config(128, 256, 64, 8, 3), _config(64, 256, 32, 4, 4), _config(128, 128, 32, 4, 4), _config(128, 64, 32, 4, 4),
           _config(64, 128, 32, 4, 4), _config(128, 32, 32, 4, 4), _config(64, 32, 32, 2, 5), _config(128, 128, 64, 8, 3),
           _config(128, 64, 64, 4, 3), _config(64, 64, 64, 4, 4)]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def autotuned_matmul(a, b, c, m, n, k, a_row, b_row, c_row, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                     GROUP_M: tl.constexpr):
    """c = a @ b, all by rows; a block per tile, GROUP_M rows of tiles side by side so that they share b's columns in L2."""
    tiles_m, tiles_n = tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
    group = tl.program_id(0) // (GROUP_M * tiles_n)
    first = group * GROUP_M
    rows_of_group = min(tiles_m - first, GROUP_M)
    tile_m = first + tl.program_id(0) % (GROUP_M * tiles_n) % rows_of_group
    tile_n = tl.program_id(0) % (GROUP_M * tiles_n) // rows_of_group
    rows, columns = tile_m * BLOCK_M + tl.arange(0, BLOCK_M), tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    from_a = a + (rows % m)[:, None] * a_row + inner[None, :]
    from_b = b + inner[:, None] * b_row + (columns % n)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, k, BLOCK_K):
        left = tl.load(from_a, mask=inner[None, :] < k - step, other=0.0)
        right = tl.load(from_b, mask=inner[:, None] < k - step, other=0.0)
        total = tl.dot(left, right, total)
        from_a += BLOCK_K
        from_b += BLOCK_K * b_row
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * c_row + columns[None, :], total.to(tl.float16), mask=inside)


def grid(meta):
    return (triton.cdiv(meta["m"], meta["BLOCK_M"]) * triton.cdiv(meta["n"], meta["BLOCK_N"]),)
