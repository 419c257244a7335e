"""slangpy: a compute shader in Slang, on its CUDA device, against numpy."""

import pathlib
import tempfile

import numpy
import slangpy
from checks import close, finish

SHADER = """
[shader("compute")] [numthreads(64, 1, 1)]
void scaled(uint3 id: SV_DispatchThreadID, StructuredBuffer<float> x, RWStructuredBuffer<float> y, uniform float factor, uniform uint count)
{
    if (id.x < count) y[id.x] = factor * sqrt(x[id.x]) + id.x;
}
"""

with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "scaled.slang").write_text(SHADER, encoding="utf-8")
    device = slangpy.create_device(type=slangpy.DeviceType.cuda, include_paths=[folder])
    kernel = device.create_compute_kernel(device.load_program("scaled", ["scaled"]))
    x = numpy.random.default_rng(0).random(1000).astype("float32")
    usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
    source = device.create_buffer(element_count=1000, struct_size=4, usage=usage, data=x)
    result = device.create_buffer(element_count=1000, struct_size=4, usage=usage, data=numpy.zeros(1000, "float32"))
    kernel.dispatch(thread_count=[1000, 1, 1], x=source, y=result, factor=2.5, count=1000)
    close("scaled", result.to_numpy().view("float32").reshape(-1), 2.5 * numpy.sqrt(x) + numpy.arange(1000), 1e-6)
finish()
