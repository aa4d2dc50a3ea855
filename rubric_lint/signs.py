"""What the bytes of every file with rubrics hold, whether ours or of another system."""

_SIGNS = (
    *(b"rubric", b"Rubric", b"RUBRIC"),
    *(b"expected_outcome", b"expectedOutcome", b"score_range", b"scoreRange", b"required_min_"),
    *(b"\xff\xfe", b"\xfe\xff"),
    *(b"choice_scores", b"score-", *(b"score%d" % digit for digit in range(10))),  # of dialects without `rubric`
)

# The words of suites whose criteria are plain texts among their assertions; one alone is everywhere.
_WORDS_TOGETHER = (b"assert", b"tests")


def could_hold_rubrics(data: bytes) -> bool:
    """A quick look at the bytes of a file: False when nothing in it is of this format."""
    return any(sign in data for sign in _SIGNS) or all(word in data for word in _WORDS_TOGETHER)
