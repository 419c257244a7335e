"""TileLang: a pipelined product of matrices (T.gemm, by wgmma on an H100) against PyTorch on the CPU."""

import tilelang
import tilelang.language as T
import torch
from checks import close, finish


@tilelang.jit(out_idx=[2])
def product(M, N, K, BM=128, BN=128, BK=32):
    @T.prim_func
    def main(a: T.Tensor((M, K), "float16"), b: T.Tensor((K, N), "float16"), c: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=128) as (column, row):
            left = T.alloc_shared((BM, BK), "float16")
            right = T.alloc_shared((BK, BN), "float16")
            total = T.alloc_fragment((BM, BN), "float32")
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(K, BK), num_stages=3):
                T.copy(a[row * BM, k * BK], left)
                T.copy(b[k * BK, column * BN], right)
                T.gemm(left, right, total)
            T.copy(total, c[row * BM, column * BN])

    return main


torch.manual_seed(0)
a, b = torch.randn(256, 512).half(), torch.randn(512, 256).half()
close("product", product(256, 256, 512)(a.cuda(), b.cuda()), a.float() @ b.float(), 1e-5)
finish()
