# SPDX-License-Identifier: Apache-2.0
import types

on = {"flash": True, "mem_efficient": True, "cudnn": True, "math": True}
cuda = types.SimpleNamespace(is_built=lambda: True)
for part in on:
    setattr(cuda, "enable_%s_sdp" % part, lambda to, part=part: on.__setitem__(part, to))
    setattr(cuda, part + "_sdp_enabled", lambda part=part: on[part])
cudnn = types.SimpleNamespace(allow_tf32=True, benchmark=False)
