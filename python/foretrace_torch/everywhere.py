"""Names every operator of PyTorch to Foretrace, also those that run PyTorch's own kernels: a mode around each of them."""

from foretrace_torch import operators

_OPEN = []


def _mode(begin, end):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Named(TorchDispatchMode):
        """Each operator that is dispatched, also of the backward pass, is begun and ended; what it does stays as it is."""

        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls):
            return True  # torch.compile goes on as without it

        def __torch_dispatch__(self, function, types, arguments=(), words=None):
            begin(operators.of_overload(function).encode(), None)
            try:
                return function(*arguments, **(words or {}))
            finally:
                end()

    return Named()


def enable():
    """From here on, for this thread and the backward passes that it starts; nothing where nobody asks."""
    both = operators.functions()
    if both is None or _OPEN:
        return
    mode = _mode(*both)
    mode.__enter__()
    _OPEN.append(mode)


def disable():
    while _OPEN:
        _OPEN.pop().__exit__(None, None, None)
