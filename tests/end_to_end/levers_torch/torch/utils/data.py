# SPDX-License-Identifier: Apache-2.0
class DataLoader:
    def __init__(self, dataset, num_workers=0, pin_memory=False, prefetch_factor=None, persistent_workers=False,
                 multiprocessing_context=None):
        self.num_workers, self.pin_memory, self.prefetch_factor = num_workers, pin_memory, prefetch_factor
        self.persistent_workers, self.multiprocessing_context = persistent_workers, multiprocessing_context
