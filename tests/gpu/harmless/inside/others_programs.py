# SPDX-License-Identifier: Apache-2.0
"""Training with packages by others, as their documentation shows it, on made-up data; for others.py.

  others_programs.py trainer|lightning|geometric [cpu]
"""

import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[2] / "shared"))

STEPS = 12
DEVICE = "cpu" if "cpu" in sys.argv[2:] else "cuda"


def tokens(count, length, vocabulary):
    import torch
    generator = torch.Generator().manual_seed(3)
    return [torch.randint(0, vocabulary, (length,), generator=generator) for _ in range(count)]


def trainer():
    """A small GPT-2 from scratch with transformers' Trainer: workers, bf16, a checkpoint in the middle."""
    import transformers
    transformers.set_seed(5)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=512, n_positions=128, n_embd=128, n_layer=3, n_head=4))
    data = [{"input_ids": one, "labels": one} for one in tokens(128, 128, 512)]
    arguments = transformers.TrainingArguments(
        output_dir="checkpoints", max_steps=STEPS, per_device_train_batch_size=8, gradient_accumulation_steps=2, logging_steps=1, save_steps=STEPS // 2,
        report_to="none", disable_tqdm=True, dataloader_num_workers=2, seed=5, bf16=DEVICE == "cuda", use_cpu=DEVICE == "cpu")
    transformers.Trainer(model=model, args=arguments, train_dataset=data).train()


def lightning():
    """A small network with Lightning's Trainer, which ends an epoch, validates and writes a checkpoint."""
    import lightning as package
    import torch
    package.seed_everything(5)

    class Network(package.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Flatten(),
                                              torch.nn.Linear(16 * 30 * 30, 10))

        def loss(self, batch):
            return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

        def training_step(self, batch, _):
            loss = self.loss(batch)
            print("loss", loss.item().hex())
            return loss

        def validation_step(self, batch, _):
            self.log("validation", self.loss(batch))

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-3)

    generator = torch.Generator().manual_seed(3)
    data = torch.utils.data.TensorDataset(torch.randn(96, 3, 32, 32, generator=generator), torch.randint(0, 10, (96,), generator=generator))
    loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True, num_workers=2)
    fit = package.Trainer(accelerator="gpu" if DEVICE == "cuda" else "cpu", devices=1, max_steps=STEPS, logger=False, enable_progress_bar=False,
                          deterministic="warn", default_root_dir=".")
    fit.fit(Network(), loader, torch.utils.data.DataLoader(data, batch_size=16))


def geometric():
    """Graph convolutions on batches of random graphs with PyTorch Geometric."""
    import torch
    from graph_network import GraphNetwork, random_graphs
    from torch_geometric.loader import DataLoader
    from torch_geometric.seed import seed_everything
    seed_everything(5)
    graphs = random_graphs(64, torch.Generator().manual_seed(3))
    network = GraphNetwork().to(DEVICE)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(3):
        for batch in DataLoader(graphs, batch_size=16, shuffle=True):
            optimizer.zero_grad()
            batch = batch.to(DEVICE)
            loss = torch.nn.functional.cross_entropy(network(batch), batch.y)
            loss.backward()
            optimizer.step()
            print("loss", loss.item().hex())


if __name__ == "__main__":
    {"trainer": trainer, "lightning": lightning, "geometric": geometric}[sys.argv[1]]()
