# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Triton with its profiler, Proton: names and orders of arguments are those of the package."""
