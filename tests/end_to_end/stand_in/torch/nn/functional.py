# SPDX-License-Identifier: Apache-2.0
import torch._C

scaled_dot_product_attention = torch._C._nn.scaled_dot_product_attention
