# SPDX-License-Identifier: Apache-2.0
import multiprocessing


class BatchSampler:
    def __init__(self, length, batch_size):
        self.length, self.batch_size, self.sampler = length, batch_size, range(length)

    def __iter__(self):
        return iter([range(start, min(start + self.batch_size, self.length))
                     for start in range(0, self.length, self.batch_size)])


class DataLoader:
    def __init__(self, dataset, batch_size=1, num_workers=0, pin_memory=False, prefetch_factor=None, persistent_workers=False,
                 multiprocessing_context=None, collate_fn=list, batch_sampler=None):
        self.dataset, self.batch_size, self.num_workers, self.pin_memory = dataset, batch_size, num_workers, pin_memory
        self.collate_fn = collate_fn
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers, self.multiprocessing_context = persistent_workers, multiprocessing_context
        self.batch_sampler = batch_sampler or BatchSampler(len(dataset), batch_size)

    def __iter__(self):
        return _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset = loader.dataset
        self._collate_fn = loader.collate_fn
        self._auto_collation = True
        self._index_sampler = loader.batch_sampler
        self._sampler_iter = iter(self._index_sampler)
        self._num_workers = loader.num_workers
        self._prefetch_factor = loader.prefetch_factor
        self._pin_memory = loader.pin_memory
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        """Docs of next."""
        data = self._next_data()
        self._num_yielded += 1
        return data


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def _next_data(self):
        return self._collate_fn([self._dataset[index] for index in next(self._sampler_iter)])


def _work(dataset, indices, batches):
    for number, batch in iter(indices.get, None):
        try:
            batches.put((number, [dataset[index] for index in batch]))
        except Exception as error:
            batches.put((number, error))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        context = multiprocessing.get_context(loader.multiprocessing_context)
        self._batches, self._early = context.Queue(), {}
        self._indices = [context.Queue() for _ in range(self._num_workers)]
        self._workers = [context.Process(target=_work, args=(self._dataset, indices, self._batches), daemon=True)
                         for indices in self._indices]
        for worker in self._workers:
            worker.start()
        self._sent = self._received = 0
        for _ in range(self._prefetch_factor * self._num_workers):
            self._send()

    def _send(self):
        batch = next(self._sampler_iter, None)
        if batch is not None:
            self._indices[self._sent % self._num_workers].put((self._sent, batch))
            self._sent += 1

    def _next_data(self):
        if self._received == self._sent:
            for indices, worker in zip(self._indices, self._workers):
                indices.put(None)
                worker.join()
            raise StopIteration
        while self._received not in self._early:
            number, batch = self._batches.get()
            self._early[number] = batch
        batch = self._early.pop(self._received)
        self._received += 1
        self._send()
        if isinstance(batch, Exception):
            raise batch
        return batch
