# SPDX-License-Identifier: Apache-2.0
import torch.utils.data  # noqa: F401
