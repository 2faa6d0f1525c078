# SPDX-License-Identifier: Apache-2.0
"""A small network of graph convolutions with PyTorch Geometric, and random graphs for it."""

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, global_mean_pool

FEATURES, CLASSES = 16, 4


def random_graphs(count, generator=None):
    return [Data(x=torch.randn(40, FEATURES, generator=generator), edge_index=torch.randint(0, 40, (2, 160), generator=generator),
                 y=torch.randint(0, CLASSES, (1,), generator=generator)) for _ in range(count)]


class GraphNetwork(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = GCNConv(FEATURES, 64), GCNConv(64, 64), torch.nn.Linear(64, CLASSES)

    def forward(self, graph):
        x = self.first(graph.x, graph.edge_index).relu()
        x = self.second(x, graph.edge_index).relu()
        return self.last(global_mean_pool(x, graph.batch))
