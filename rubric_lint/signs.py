"""Recognise by its bytes whether a file may hold rubrics, of our format or another."""

_SIGNS = (
    *(b"rubric", b"Rubric", b"RUBRIC"),
    *(b"expected_outcome", b"expectedOutcome", b"score_range", b"scoreRange", b"required_min_"),
    *(b"\xff\xfe", b"\xfe\xff"),
    *(b"choice_scores", b"score-", *(b"score%d" % digit for digit in range(10))),  # of dialects without `rubric`
)

# Words of suites whose criteria are plain strings among their assertions; one of them alone is too common.
_WORDS_TOGETHER = (b"assert", b"tests")


def could_hold_rubrics(data: bytes) -> bool:
    """Return False if the bytes of a file certainly hold no rubrics, after a quick look."""
    return any(sign in data for sign in _SIGNS) or all(word in data for word in _WORDS_TOGETHER)
