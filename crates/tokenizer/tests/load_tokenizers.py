"""Loads each tokenizer folder with `tokenizers` and with `transformers`, and compares with what invitro encoded."""

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer
from transformers import AutoTokenizer

for folder in map(Path, sys.argv[1:]):
    rows = [json.loads(line) for line in (folder / "sentences.jsonl").open()]
    texts = [row["text"] for row in rows]
    ids = [row["ids"] for row in rows]

    plain = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert [e.ids for e in plain.encode_batch(texts)] == ids, f"{folder}: tokenizers disagrees"
    assert [plain.decode(row, skip_special_tokens=False) for row in ids] == texts, f"{folder}: tokenizers decodes otherwise"

    auto = AutoTokenizer.from_pretrained(folder)
    assert auto(texts)["input_ids"] == ids, f"{folder}: transformers disagrees"
    assert [auto.decode(row) for row in ids] == texts, f"{folder}: transformers decodes otherwise"
    words = [" ".join(w for w in text.split(" ") if not w.startswith("<")) for text in texts]
    bare = [auto.decode([i for i in row if i > 2], skip_special_tokens=True) for row in ids]
    assert bare == words, f"{folder}: without special tokens"
    assert len(auto) == plain.get_vocab_size() == json.loads((folder / "size.json").read_text())
    assert (auto.pad_token_id, auto.eos_token_id) == (0, 1)
    assert auto.all_special_ids and sorted(auto.all_special_ids) == list(range(9)), auto.all_special_ids
    print(folder.name, len(rows))
