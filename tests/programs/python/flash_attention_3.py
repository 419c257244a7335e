"""FlashAttention 3, forward, its compiled kernels for sm_90a, against PyTorch on the CPU."""

from checks import attention, finish
from fa3_fwd_interface import flash_attn_func

attention(flash_attn_func)
finish()
