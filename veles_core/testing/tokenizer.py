"""What a tokenizer promises: pure counts, and cuts that agree with them."""

import pytest

from veles_core.protocols import CuttingTokenizer, Tokenizer

TEXTS = [
    "",
    " ",
    "word",
    "The staging cluster has six nodes; see ERR_1042 and api.v2.users.",
    "def f(x):\n    return {'a': [1, 2.5e10]}\n",
    "会议室预订系统的超时设置为八秒 結合テスト 배포는 매주",
    "👩‍👩‍👧🏽🇫🇷🚀 مرحبا שלום हिन्दी",
    "2025-06-15T14:00:00Z 0xdeadbeef 1234567890",
    "\r\n\r\n\t\t   \n",
    "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=",
]
SPECIAL = "<|endoftext|><|fim_prefix|><|im_start|>"


class TokenizerContract:
    """Every promise of ``veles_core.protocols.Tokenizer``, and of ``CuttingTokenizer``.

    Subclass it and give ``tokenizer``.
    """

    @pytest.fixture
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, open."""
        raise NotImplementedError("give a tokenizer fixture")

    @pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
    def test_a_count_is_a_whole_number_and_stays(self, tokenizer: Tokenizer, text: str) -> None:
        count = tokenizer.count(text)
        assert type(count) is int
        assert count >= (1 if text else 0)
        for other in TEXTS:
            tokenizer.count(other)
        assert tokenizer.count(text) == count

    def test_nothing_has_no_tokens(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.count("") == 0

    def test_more_text_has_more_tokens(self, tokenizer: Tokenizer) -> None:
        sentence = TEXTS[3] + " "
        counts = [tokenizer.count(sentence * times) for times in (1, 2, 10, 100)]
        assert counts == sorted(set(counts))
        assert counts[-1] >= 50 * counts[0]

    def test_names_of_special_tokens_are_plain_text(self, tokenizer: Tokenizer) -> None:
        # As special tokens they would be three; as text no model sees fewer than six.
        assert tokenizer.count(SPECIAL) >= 6

    @pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
    def test_a_cut_is_the_longest_that_fits(self, tokenizer: Tokenizer, text: str) -> None:
        if not isinstance(tokenizer, CuttingTokenizer):
            return
        counts = [tokenizer.count(text[:end]) for end in range(len(text) + 1)]
        for limit in range(counts[-1] + 2):
            longest = max(end for end, count in enumerate(counts) if count <= limit)
            assert tokenizer.cut(text, limit) == longest
