"""Convolutions as im2col and Triton's product: grouped and transposed ones, and the gradients, in the same way.

PyTorch's own kernels make columns of images of one and two dimensions; of three, a copy of a strided view does.
"""

import itertools
import math

import torch
from torch.nn import functional

from foretrace_torch import product

KEY = "CUDA"


def note(_):
    """What is to be known about an operator's launches."""
    return "im2col and Triton's matmul, not cuDNN's"


class _Shape:
    """Sizes of a convolution, one-dimensional ones with a second dimension of 1 in front."""

    def __init__(self, weight, stride, padding, dilation, groups):
        self.dimensions = weight.dim() - 2
        self.stride, self.padding, self.dilation = self.spread(stride, 1), self.spread(padding, 0), self.spread(dilation, 1)
        self.groups = groups

    def spread(self, values, fill):
        """A number for each dimension; `fill` for the one in front."""
        if self.dimensions == 1 and len(values) == 1:
            return [fill, *values]
        return list(values) * self.dimensions if len(values) == 1 else list(values)

    def lift(self, tensor):
        return tensor.unsqueeze(2) if self.dimensions == 1 else tensor

    def lower(self, tensor):
        return tensor.squeeze(2) if self.dimensions == 1 else tensor

    def columns(self, image, kernel):
        """(batch * groups, channels per group * kernel, places)."""
        batch, channels = image.shape[:2]
        if self.dimensions < 3:
            out = functional.unfold(image, kernel, self.dilation, self.padding, self.stride)
        else:
            places = self.places(image.shape[2:], kernel)
            image = functional.pad(image, [p for p in reversed(self.padding) for _ in "ab"])
            steps = image.stride()[2:]
            out = image.as_strided((batch, channels, *kernel, *places), (*image.stride()[:2], *[s * d for s, d in zip(steps, self.dilation)],
                                                                         *[s * d for s, d in zip(steps, self.stride)]))
        return out.reshape(batch * self.groups, channels // self.groups * math.prod(kernel), -1)

    def fold(self, columns, size, kernel):
        """The transpose of `columns`: of (batch, channels * kernel, places) to an image of `size`."""
        if self.dimensions < 3:
            return functional.fold(columns, list(size), kernel, self.dilation, self.padding, self.stride)
        places = self.places(size, kernel)
        columns = columns.reshape(columns.shape[0], -1, *kernel, *places)
        image = columns.new_zeros((*columns.shape[:2], *[s + 2 * p for s, p in zip(size, self.padding)]))
        for at in itertools.product(*map(range, kernel)):
            there = [slice(a * d, a * d + s * (n - 1) + 1, s) for a, d, s, n in zip(at, self.dilation, self.stride, places)]
            image[(..., *there)] += columns[(slice(None), slice(None), *at)]
        return image[(..., *[slice(p, p + s) for s, p in zip(size, self.padding)])]

    def places(self, size, kernel):
        return [(s + 2 * p - d * (k - 1) - 1) // step + 1 for s, p, d, k, step in zip(size, self.padding, self.dilation, kernel, self.stride)]


def _forward(image, weight, shape):
    """image (batch, in, h, w), weight (out, in / groups, r, s)."""
    batch, kernel = image.shape[0], list(weight.shape[2:])
    columns = shape.columns(image, kernel)
    rows = weight.reshape(shape.groups, weight.shape[0] // shape.groups, -1).repeat(batch, 1, 1)
    return product.bmm(rows, columns).reshape(batch, weight.shape[0], *shape.places(image.shape[2:], kernel))


def _to_image(gradient, weight, size, shape):
    """What flows back into an image of `size`; this is the transposed convolution, too."""
    batch, kernel = gradient.shape[0], list(weight.shape[2:])
    rows = weight.reshape(shape.groups, weight.shape[0] // shape.groups, -1).transpose(1, 2).repeat(batch, 1, 1)
    columns = product.bmm(rows, gradient.reshape(batch * shape.groups, -1, math.prod(gradient.shape[2:])))
    return shape.fold(columns.reshape(batch, -1, columns.shape[2]), size, kernel)


def _to_weight(gradient, image, weight, shape):
    batch = image.shape[0]
    columns = shape.columns(image, list(weight.shape[2:]))
    flat = gradient.reshape(batch * shape.groups, -1, math.prod(gradient.shape[2:]))
    each = product.bmm(flat, columns.transpose(1, 2))
    return each.reshape(batch, shape.groups, each.shape[1], each.shape[2]).sum(0).reshape(weight.shape)


def convolution(image, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    shape = _Shape(weight, stride, padding, dilation, groups)
    high, filters = shape.lift(image), shape.lift(weight)
    if transposed:
        extra = shape.spread(output_padding, 0)
        size = [(n - 1) * step - 2 * p + d * (k - 1) + e + 1 for n, step, p, d, k, e in
                zip(high.shape[2:], shape.stride, shape.padding, shape.dilation, filters.shape[2:], extra)]
        out = _to_image(high, filters, size, shape)
    else:
        out = _forward(high, filters, shape)
    out = shape.lower(out)
    return out if bias is None else out + bias.reshape(1, -1, *[1] * shape.dimensions)


def convolution_backward(gradient, image, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):
    shape = _Shape(weight, stride, padding, dilation, groups)
    grad, high, filters = shape.lift(gradient), shape.lift(image), shape.lift(weight)
    to_image = to_weight = to_bias = None
    if output_mask[0]:
        to_image = shape.lower(_forward(grad, filters, shape) if transposed else _to_image(grad, filters, high.shape[2:], shape))
    if output_mask[1]:
        to_weight = shape.lower(_to_weight(high, grad, filters, shape) if transposed else _to_weight(grad, high, filters, shape))
    if output_mask[2]:
        to_bias = gradient.sum([0, *range(2, gradient.dim())])
    return to_image, to_weight, to_bias


OPERATORS = {"convolution": convolution, "convolution_backward": convolution_backward}
