"""scaled_dot_product_attention by products and a softmax: the road that PyTorch takes where no fused kernel suits."""

import torch

KEY = "CUDA"


def choice(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    return int(torch.nn.attention.SDPBackend.MATH.value)


OPERATORS = {"_fused_sdp_choice": choice}
