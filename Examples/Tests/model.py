# SPDX-License-Identifier: Apache-2.0
"""A tiny embedding model with random embeddings of words. The words of some pairs have the same embedding, as
synonyms. The layers change little, so the embedding of a text is nearly the mean of the embeddings of its words."""

import json
import random
import struct

HIDDEN, LAYERS, INTERMEDIATE, POSITIONS = 64, 2, 64, 40
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def write_model(folder, words, synonyms):
    """Writes the files of a model that knows these words."""
    vocabulary = SPECIAL + sorted(set(words) | {word for pair in synonyms for word in pair})
    generator = random.Random(1)
    tensors = {}

    def tensor(name, *shape, scale, mean=0.0):
        count = 1
        for side in shape:
            count *= side
        tensors[name] = (shape, [mean + scale * generator.uniform(-1, 1) for _ in range(count)])

    def norm(name):
        tensor(name + ".weight", HIDDEN, scale=0, mean=1.0)
        tensor(name + ".bias", HIDDEN, scale=0)

    def linear(name, rows, columns):
        tensor(name + ".weight", rows, columns, scale=0.01)
        tensor(name + ".bias", rows, scale=0)

    tensor("embeddings.word_embeddings.weight", len(vocabulary), HIDDEN, scale=0.5)
    tensor("embeddings.position_embeddings.weight", POSITIONS, HIDDEN, scale=0)
    tensor("embeddings.token_type_embeddings.weight", 2, HIDDEN, scale=0)
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            linear(f"{name}.attention.self.{part}", HIDDEN, HIDDEN)
        linear(f"{name}.attention.output.dense", HIDDEN, HIDDEN)
        norm(f"{name}.attention.output.LayerNorm")
        linear(f"{name}.intermediate.dense", INTERMEDIATE, HIDDEN)
        linear(f"{name}.output.dense", HIDDEN, INTERMEDIATE)
        norm(f"{name}.output.LayerNorm")
    table = tensors["embeddings.word_embeddings.weight"][1]
    for one, other in synonyms:
        source, target = (vocabulary.index(word) * HIDDEN for word in (one, other))
        table[target:target + HIDDEN] = table[source:source + HIDDEN]

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
        "num_attention_heads": 2, "intermediate_size": INTERMEDIATE, "layer_norm_eps": 1e-12,
        "max_position_embeddings": POSITIONS, "vocab_size": len(vocabulary), "type_vocab_size": 2}))
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (shape, elements) in sorted(tensors.items()):
        start = len(data)
        data += struct.pack(f"<{len(elements)}f", *elements)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
