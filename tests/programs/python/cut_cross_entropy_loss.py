"""cut-cross-entropy: the loss of a linear layer without its logits in memory, with both gradients, against PyTorch on the CPU."""

import torch
from checks import close, finish
from cut_cross_entropy import linear_cross_entropy

import foretrace_torch  # noqa: F401  foretrace_triton: an autotuned kernel is timed once

torch.manual_seed(0)
e, c, target = torch.randn(64, 64).bfloat16(), torch.randn(256, 64).bfloat16(), torch.randint(0, 256, (64,))
there = [x.cuda().requires_grad_() for x in (e, c)]
here = [x.float().requires_grad_() for x in (e, c)]
got = linear_cross_entropy(*there, target.cuda())
want = torch.nn.functional.cross_entropy(here[0] @ here[1].t(), target)
got.backward()
want.backward()
close("loss", got, want, 1e-3)
for name, a, b in zip(("gradient of the embeddings", "gradient of the classifier"), there, here):
    close(name, a.grad, b.grad, 2e-2)  # bfloat16
finish()
