# SPDX-License-Identifier: Apache-2.0
from torch.distributed.checkpoint.state_dict_saver import async_save as async_save
from torch.distributed.checkpoint.state_dict_saver import save as save
