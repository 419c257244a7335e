"""FlashAttention 4 (CuTe DSL), forward, against PyTorch on the CPU."""

from checks import attention, finish
from flash_attn.cute import flash_attn_func

attention(flash_attn_func)
finish()
