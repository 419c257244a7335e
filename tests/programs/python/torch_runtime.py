"""What PyTorch does beside operators, against the CPU: torch_runtime.py graphs | streams | loader | traced | profiler | identity."""

import sys

import torch
from checks import close, finish
from torch import nn

import foretrace_torch  # noqa: F401  the products that PyTorch gives to cuBLAS


def graphs():
    """A graph by hand, its input changed between replays; a model by make_graphed_callables."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    first, second = torch.randn(16, 32), torch.randn(16, 32)
    want = model(second)
    model.cuda()
    x = first.cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    x.copy_(second)
    graph.replay()
    close("graph", y, want, 1e-4)
    callable_ = torch.cuda.make_graphed_callables(model, (torch.randn(16, 32, device="cuda"),))
    close("make_graphed_callables", callable_(second.cuda()), want, 1e-4)


def streams():
    host = torch.randn(100_000).pin_memory()
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    done, begin, end = torch.cuda.Event(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    back = torch.empty_like(host).pin_memory()
    with torch.cuda.stream(a):
        begin.record()
        device = host.to("cuda", non_blocking=True)
        device.mul_(2)
        done.record()
    with torch.cuda.stream(b):
        done.wait()
        back.copy_(device + 1, non_blocking=True)
        end.record()
    torch.cuda.synchronize()
    close("streams", back, 2 * host + 1, 1e-6)
    close("time between events is positive", torch.tensor(float(begin.elapsed_time(end) > 0)), torch.tensor(1.0), 0)
    close("memory statistics", torch.tensor(float(torch.cuda.max_memory_allocated() >= 400_000)), torch.tensor(1.0), 0)


def loader():
    """Two forked workers, pinned memory."""
    data = torch.utils.data.TensorDataset(torch.arange(64.0))
    total = sum(batch.cuda(non_blocking=True).sum() for (batch,) in torch.utils.data.DataLoader(data, batch_size=8, num_workers=2, pin_memory=True))
    close("sum of all batches", total, torch.tensor(2016.0), 0)


def traced():
    model, x = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 4)), torch.randn(8, 16)
    want = model(x)
    model.cuda()
    close("torch.jit.trace", torch.jit.trace(model, x.cuda())(x.cuda()), want, 1e-4)
    close("torch.export", torch.export.export(model, (x.cuda(),)).module()(x.cuda()), want, 1e-4)


def profiler():
    x = torch.randn(64, 64)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
        y = (x.cuda() + 1).relu()
    close("result", y, (x + 1).relu(), 0)
    names = {event.key for event in profile.key_averages()}
    close("aten::add is in the profile", torch.tensor(float("aten::add" in names)), torch.tensor(1.0), 0)


def identity():
    close("is there", torch.tensor(float(torch.cuda.is_available())), torch.tensor(1.0), 0)
    properties = torch.cuda.get_device_properties(0)
    print(properties.name, torch.cuda.get_device_capability(0))
    close("memory", torch.tensor(float(properties.total_memory > 2 ** 33)), torch.tensor(1.0), 0)


if __name__ == "__main__":
    torch.manual_seed(0)
    globals()[sys.argv[1]]()
    finish()
