"""cuDNN's graph interface: one operation, in each way that cuDNN has for it.

Everything is a descriptor, a set of numbered attributes; the numbers are those
of cudnn_graph.h. PyTorch has loaded the library.
"""

import ctypes

import torch

# Types of attributes.
HANDLE, DATA_TYPE, BOOL, INT64, POINTER, HEURISTIC, DESCRIPTOR = 0, 1, 2, 3, 6, 8, 15
RESAMPLE_MODE, PADDING_MODE, NORM_MODE, NORM_PHASE = 21, 22, 27, 28
FLOAT, TYPES = 0, {torch.float32: 0, torch.float16: 2, torch.bfloat16: 9}
# Kinds of descriptors.
ENGINE_CONFIG, HEURISTICS, PLAN, GRAPH, PACK, TENSOR, RESAMPLE, RESAMPLE_FORWARD, NORM_FORWARD = 3, 4, 5, 15, 16, 17, 24, 25, 29
MAX_POOL, AVERAGE_WITH_PADDING = 3, 2
ZEROS, LOWEST = 0, 1  # what lies around an image
LAYER_NORM, RMS_NORM, INFERENCE = 0, 4, 0
MODE_A, FALLBACK = 3, 2
MOST_WAYS = 32


class Refused(Exception):
    """cuDNN has no way to do it, or says why not."""


class Cudnn:
    def __init__(self):
        self.library = ctypes.CDLL("libcudnn.so.9")
        self.library.cudnnGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.check(self.library.cudnnCreate(ctypes.byref(self.handle)))

    def check(self, status):
        if status != 0:
            raise Refused(self.library.cudnnGetErrorString(status).decode())

    def descriptor(self, kind, *attributes, finish=True):
        """One with (number, type, value or values), complete unless it is to be filled."""
        out = ctypes.c_void_p()
        self.check(self.library.cudnnBackendCreateDescriptor(kind, ctypes.byref(out)))
        for number, type_, values in attributes:
            values = values if isinstance(values, (list, tuple)) else [values]
            c_type = {INT64: ctypes.c_int64, BOOL: ctypes.c_bool, HANDLE: ctypes.c_void_p, POINTER: ctypes.c_void_p,
                      DESCRIPTOR: ctypes.c_void_p}.get(type_, ctypes.c_int)
            array = (c_type * len(values))(*(v.value if isinstance(v, ctypes.c_void_p) else v for v in values))
            self.check(self.library.cudnnBackendSetAttribute(out, number, type_, ctypes.c_int64(len(values)), array))
        if finish:
            self.check(self.library.cudnnBackendFinalize(out))
        return out

    def tensor(self, number, x):
        """What describes a tensor of PyTorch's; one on the CPU is a number."""
        return self.descriptor(TENSOR, (901, DATA_TYPE, TYPES[x.dtype]), (902, INT64, x.shape), (903, INT64, x.stride()),
                               (906, INT64, number), (900, INT64, 16), *[(908, BOOL, True)] * (not x.is_cuda))

    def plans(self, operation, tensors):
        """A function for each way to do it, which does it to the tensors, and gives the last."""
        graph = self.descriptor(GRAPH, (800, HANDLE, self.handle), (801, DESCRIPTOR, operation))
        out = []
        for mode in (MODE_A, FALLBACK):
            try:
                found = self.descriptor(HEURISTICS, (201, DESCRIPTOR, graph), (200, HEURISTIC, mode))
            except Refused:
                continue
            configs = (ctypes.c_void_p * MOST_WAYS)(*(self.descriptor(ENGINE_CONFIG, finish=False).value for _ in range(MOST_WAYS)))
            count = ctypes.c_int64()
            self.check(self.library.cudnnBackendGetAttribute(found, 202, DESCRIPTOR, ctypes.c_int64(MOST_WAYS), ctypes.byref(count), configs))
            for config in configs[:count.value]:
                try:
                    out.append(self.plan(ctypes.c_void_p(config), tensors))
                except Refused:
                    pass  # this way does not fit
        if not out:
            raise Refused("no way to compute it")
        return out

    def plan(self, config, tensors):
        plan = self.descriptor(PLAN, (400, HANDLE, self.handle), (401, DESCRIPTOR, config))
        size, count = ctypes.c_int64(), ctypes.c_int64()
        self.check(self.library.cudnnBackendGetAttribute(plan, 402, INT64, ctypes.c_int64(1), ctypes.byref(count), ctypes.byref(size)))
        workspace = torch.empty(max(size.value, 1), dtype=torch.uint8, device="cuda")
        pack = self.descriptor(PACK, (1000, INT64, list(range(1, len(tensors) + 1))),
                               (1001, POINTER, [x.data_ptr() for x in tensors]), (1003, POINTER, workspace.data_ptr()))

        def run(keep=workspace):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.library.cudnnSetStream(self.handle, stream))
            self.check(self.library.cudnnBackendExecute(self.handle, plan, pack))
            return tensors[-1]
        return run

    def pool(self, x, y, mode, size, stride, pad):
        """Ways to pool square windows of images."""
        how = self.descriptor(RESAMPLE, (1700, RESAMPLE_MODE, mode), (1701, DATA_TYPE, FLOAT), (1702, INT64, 2),
                              (1706, INT64, [size] * 2), (1705, INT64, [stride] * 2), (1704, INT64, [pad] * 2), (1703, INT64, [pad] * 2),
                              (1708, PADDING_MODE, LOWEST if mode == MAX_POOL else ZEROS))
        return self.plans(self.descriptor(RESAMPLE_FORWARD, (1710, DESCRIPTOR, self.tensor(1, x)), (1711, DESCRIPTOR, self.tensor(2, y)),
                                          (1716, DESCRIPTOR, how)), [x, y])

    def norm(self, x, scale, bias, epsilon, y):
        """Ways to norm rows; tensors have four dimensions, the second is normed. Without a bias by their squares."""
        mode = RMS_NORM if bias is None else LAYER_NORM
        given = [(number, t) for number, t in zip((2002, 2005, 2006, 2007, 2013), (x, scale, bias, epsilon, y)) if t is not None]
        attributes = [(number, DESCRIPTOR, self.tensor(i + 1, t)) for i, (number, t) in enumerate(given)]
        return self.plans(self.descriptor(NORM_FORWARD, (2000, NORM_MODE, mode), (2001, NORM_PHASE, INFERENCE), *attributes),
                          [t for _, t in given])
