"""nvidia-ml-py: what programs ask of the machine before they start."""

import pynvml

pynvml.nvmlInit()
device = pynvml.nvmlDeviceGetHandleByIndex(0)
memory = pynvml.nvmlDeviceGetMemoryInfo(device)
print("NVML:", pynvml.nvmlDeviceGetCount(), pynvml.nvmlDeviceGetName(device), memory.total >> 30, "GiB,",
      pynvml.nvmlDeviceGetClockInfo(device, pynvml.NVML_CLOCK_SM), "MHz,", pynvml.nvmlDeviceGetCudaComputeCapability(device),
      pynvml.nvmlSystemGetCudaDriverVersion())
assert pynvml.nvmlDeviceGetIndex(pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(device))) == 0
pynvml.nvmlShutdown()
