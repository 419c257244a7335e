"""Convolutions of one and two dimensions as im2col (PyTorch's own kernel) and Triton's product.

Grouped and transposed ones, and the gradients, in the same way.
"""

import torch
from torch.nn import functional

from foretrace_torch import product

KEY = "CUDA"


def _pair(values):
    values = list(values)
    return values * 2 if len(values) == 1 else values


class _Shape:
    """Sizes of a convolution, one-dimensional ones with a second dimension of 1 in front."""

    def __init__(self, weight, stride, padding, dilation, groups):
        self.dimensions = weight.dim() - 2
        if self.dimensions not in (1, 2):
            raise NotImplementedError(f"foretrace_torch: convolution in {self.dimensions} dimensions is not provided; cuDNN's is out of reach here")
        flat = self.dimensions == 1
        spread = lambda values, fill: [fill, *values] if flat and len(values) == 1 else _pair(values)
        self.stride, self.padding, self.dilation = spread(stride, 1), spread(padding, 0), spread(dilation, 1)
        self.groups = groups

    def lift(self, tensor):
        return tensor.unsqueeze(2) if self.dimensions == 1 else tensor

    def lower(self, tensor):
        return tensor.squeeze(2) if self.dimensions == 1 else tensor

    def columns(self, image, kernel):
        """(batch * groups, channels per group * kernel, places)."""
        out = functional.unfold(image, kernel, self.dilation, self.padding, self.stride)
        return out.reshape(image.shape[0] * self.groups, out.shape[1] // self.groups, out.shape[2])

    def places(self, size, kernel):
        return [(size[i] + 2 * self.padding[i] - self.dilation[i] * (kernel[i] - 1) - 1) // self.stride[i] + 1 for i in (0, 1)]


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
    columns = product.bmm(rows, gradient.reshape(batch * shape.groups, -1, gradient.shape[2] * gradient.shape[3]))
    columns = columns.reshape(batch, -1, columns.shape[2])
    return functional.fold(columns, list(size), kernel, shape.dilation, shape.padding, shape.stride)


def _to_weight(gradient, image, weight, shape):
    batch = image.shape[0]
    columns = shape.columns(image, list(weight.shape[2:]))
    flat = gradient.reshape(batch * shape.groups, -1, gradient.shape[2] * gradient.shape[3])
    each = product.bmm(flat, columns.transpose(1, 2))
    return each.reshape(batch, shape.groups, each.shape[1], each.shape[2]).sum(0).reshape(weight.shape)


def convolution(image, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    shape = _Shape(weight, stride, padding, dilation, groups)
    high, filters = shape.lift(image), shape.lift(weight)
    if transposed:
        extra = [0, *output_padding] if shape.dimensions == 1 and len(output_padding) == 1 else _pair(output_padding)
        size = [(high.shape[2 + i] - 1) * shape.stride[i] - 2 * shape.padding[i] + shape.dilation[i] * (filters.shape[2 + i] - 1) + extra[i] + 1
                for i in (0, 1)]
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
