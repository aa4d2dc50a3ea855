"""Trains with TRL: a tiny random model on the CPU. Prints what the trainer has made of the rewards, as JSON.

Runs where TRL and PyTorch are, with rubric_lint on the path. `model FOLDER` only saves the model; `train RUBRIC JSON`
trains for two steps, with options of `trl_reward`, and `others`, the rewards of a second function.
"""

import asyncio
import json
import math
import sys
from pathlib import Path

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from rubric_lint.rewards import trl_reward

PAD, END = "<pad>", "<eos>"
LETTERS = [chr(code) for code in range(32, 127)]


def make_model():
    vocabulary = {token: number for number, token in enumerate([PAD, END, *LETTERS])}
    letters = Tokenizer(models.WordLevel(vocabulary, unk_token=PAD))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    letters.decoder = decoders.Fuse()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=letters, pad_token=PAD, eos_token=END)
    return LlamaForCausalLM(config), tokenizer


class Judge:
    """A judge that gives its replies in turn, whatever it is asked."""

    def __init__(self, replies):
        self.replies = replies
        self.asked = 0

    def __call__(self, messages):
        assert messages[0]["role"] == "system"
        self.asked += 1
        return self.replies[(self.asked - 1) % len(self.replies)]


class AsyncJudge(Judge):
    async def __call__(self, messages):
        await asyncio.sleep(0)
        return super().__call__(messages)


def train(rubric, replies, others=None, is_async=False, prompts=("Why?", "How?"), **options):
    judge = (AsyncJudge if is_async else Judge)(replies)
    reward = trl_reward(rubric, judge, attempts=1, concurrency=1, **options)
    functions = [reward]
    if others:

        def polite(completions, **_columns):
            return (others * len(completions))[: len(completions)]

        functions.append(polite)
    model, tokenizer = make_model()
    settings = GRPOConfig(
        output_dir="run",
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=6,
        max_steps=2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        bf16=False,
        save_strategy="no",
        disable_tqdm=True,
        shuffle_dataset=False,
    )
    data = Dataset.from_dict({"prompt": [*prompts], "answer": ["So.", "Thus."]})
    trainer = GRPOTrainer(
        model=model, processing_class=tokenizer, reward_funcs=functions, args=settings, train_dataset=data
    )
    trainer.train()
    logs = trainer._logs
    return {
        "rewards": {name: [*map(as_json, values)] for name, values in logs["rewards"].items()},
        "advantages": [*logs["advantages"]],
        "invalid": [*logs["extra"][f"{reward.__name__}/invalid"]],
        "history": [
            {name: as_json(value) for name, value in entry.items() if f"{reward.__name__}/" in name}
            for entry in trainer.state.log_history
        ],
        "totals": reward.totals,
        "asked": judge.asked,
        "weights": [*map(as_json, next(iter(trainer.model.parameters()))[5].tolist())],
    }


def as_json(value):
    return None if isinstance(value, float) and math.isnan(value) else value


if __name__ == "__main__":
    command, place, *rest = sys.argv[1:]
    if command == "model":
        for part in make_model():
            part.save_pretrained(Path(place))
    else:
        print(json.dumps(train(place, **json.loads(rest[0]))))  # noqa: T201
