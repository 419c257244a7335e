"""IREE: a product of matrices (linalg.matmul), compiled for CUDA and run by IREE's own runtime, against numpy."""

import iree.compiler
import iree.runtime
import numpy
from checks import close, finish

MODULE = """
func.func @product(%a: tensor<128x96xf32>, %b: tensor<96x64xf32>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x96xf32>, tensor<96x64xf32>) outs(%filled : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %c : tensor<128x64xf32>
}
"""

binary = iree.compiler.compile_str(MODULE, target_backends=["cuda"], extra_args=["--iree-cuda-target=sm_80"])
config = iree.runtime.Config("cuda")
context = iree.runtime.SystemContext(config=config)
context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary))
random = numpy.random.default_rng(0)
a, b = random.standard_normal((128, 96)).astype("float32"), random.standard_normal((96, 64)).astype("float32")
close("product", context.modules.module["product"](a, b).to_host(), a @ b, 1e-5)
finish()
