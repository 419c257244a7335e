"""Triton's benchmarks with one launch each, for programs under `foretrace run`.

    import foretrace_triton         # before the first autotuned kernel is launched; foretrace_torch does it

triton.testing.do_bench, by which the autotuner compares configurations, repeats a kernel for a tenth of a second of the GPU's time, and fills a buffer of
256 MB before each launch. A predicted time is the same in every repeat, so here one launch is timed, behind a fill of twice L2. Without this
package the autotuner's answer is as good, after hundreds of emulated launches.
"""

import statistics

_DONE = []


def summary(time, quantiles, mode):
    """A single time in the form that triton.testing gives many: a list of quantiles, of all, or one number."""
    if quantiles is not None:
        return time if len(quantiles) == 1 else [time] * len(quantiles)
    if mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode {mode}: expected min, max, mean, median or all")
    return [time] if mode == "all" else statistics.mean([time])


def _clear(driver, device):
    """Fills twice L2, so that the GPU is at work while the host launches what is timed, and its data come from DRAM."""
    cache = driver.get_empty_cache_for_benchmark()
    try:
        import torch

        bytes_of_l2 = torch.cuda.get_device_properties(device).L2_cache_size
        cache = cache[: min(cache.numel(), 2 * bytes_of_l2 // cache.element_size())]
    except (ImportError, AttributeError, TypeError):
        pass  # another kind of buffer: all of it
    driver.clear_cache(cache)


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As triton.testing.do_bench, in milliseconds; `warmup` and `rep` change nothing."""
    from triton import runtime

    driver = runtime.driver.active
    interface = driver.get_device_interface()
    fn()  # compiles
    for tensor in grad_to_none or ():
        tensor.grad = None
    begin, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    _clear(driver, driver.get_current_device())
    begin.record()
    fn()
    end.record()
    interface.synchronize()
    return summary(begin.elapsed_time(end), quantiles, return_mode)


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """As triton.testing.do_bench_cudagraph; launches are timed outside a graph."""
    return do_bench(fn, 0, rep, grad_to_none, quantiles, return_mode)


def enable():
    """Takes the functions' places in triton.testing; once. Importing the package does it. Without Triton nothing happens."""
    if _DONE:
        return
    try:
        import triton.testing as testing
    except ImportError:
        return
    for function in (do_bench, do_bench_cudagraph):
        setattr(testing, function.__name__, function)
    _DONE.append(True)


enable()
