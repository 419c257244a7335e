"""nvidia-ml-py: what programs ask of the machine before they start."""

import pynvml

pynvml.nvmlInit()
device = pynvml.nvmlDeviceGetHandleByIndex(0)
memory = pynvml.nvmlDeviceGetMemoryInfo(device)
print("NVML:", pynvml.nvmlDeviceGetCount(), pynvml.nvmlDeviceGetName(device), memory.total >> 30, "GiB,",
      pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM), "MHz,", pynvml.nvmlDeviceGetCudaComputeCapability(device),
      pynvml.nvmlSystemGetCudaDriverVersion())
assert pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(device))) == 0
# By the compute capability, as in nvml.h.
known = {(8, 0): pynvml.NVML_DEVICE_ARCH_AMPERE, (9, 0): pynvml.NVML_DEVICE_ARCH_HOPPER, (12, 0): pynvml.NVML_DEVICE_ARCH_BLACKWELL}
assert pynvml.nvmlDeviceGetArchitecture(device) == known[pynvml.nvmlDeviceGetCudaComputeCapability(device)]
pynvml.nvmlShutdown()
