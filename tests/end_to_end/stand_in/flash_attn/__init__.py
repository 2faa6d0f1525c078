# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the flash_attn package: names and orders of arguments are those of the package."""

from flash_attn.flash_attn_interface import flash_attn_func as flash_attn_func
from flash_attn.flash_attn_interface import flash_attn_kvpacked_func as flash_attn_kvpacked_func
from flash_attn.flash_attn_interface import flash_attn_qkvpacked_func as flash_attn_qkvpacked_func
from flash_attn.flash_attn_interface import flash_attn_varlen_func as flash_attn_varlen_func
