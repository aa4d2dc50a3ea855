"""Find chat-template tokens in text and break them, so that no model reads them as the end of a message.

A serving stack that does not escape its input turns such text into control tokens. Templates of plain words
("### Instruction:", "USER:") have no tokens and look like prose.
"""

import re

TEMPLATE_TOKEN = re.compile(
    r"""
    (?=
      < \\* (?:
        [|\uff5c] [^|\uff5c<>\[\]\s]{1,64} [|\uff5c]? >              # <|im_end|>, <|turn>; also with U+FF5C
      | [^|\uff5c<>\[\]\s\\] [^|\uff5c<>\[\]\s]{0,63} [|\uff5c] >  # <turn|>
      | </?SYS> \\* >                                              # <<SYS>>, <</SYS>>
      | /? (?: s | bos | eos | pad | unk | mask | cls | sep | eo[ha] | eosys
             | (?:start|end)_of_(?:turn|image|audio) | unused_?\d+ | reserved_\d+ | SPECIAL_\d+ | seed:\w{1,40}
             | think | (?:tool|function)_call | tool_response | tools ) >  # <s>, </s>, <end_of_turn>, <think>
      )
    | \[ \\* (?:
        /? (?: INST | SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_RESULTS | TOOL_CALLS | TOOL_CONTENT | ARGS | CALL_ID
             | THINK | MODEL_SETTINGS | IMG | IMG_BREAK | IMG_END | AUDIO | BEGIN_AUDIO | TRANSCRIBE
             | PREFIX | MIDDLE | SUFFIX | BOS | EOS | PAD | UNK | CLS | SEP | MASK | [gs]MASK
             | UNUSED_TOKEN_\d+ ) \]                               # [/INST]
      | \| [^|<>\[\]\s]{1,64} \| \]                                # [|assistant|]
      | e~\[                                                       # [e~[
      )
    | \] \\* ~ !? b [\[\]]                                         # ]~b]
    | > \\* > (?: TITLE | ABSTRACT | INTRODUCTION | SUMMARY | COMMENT | ANSWER | QUESTION | DOMAIN | PREFIX | SUFFIX
                | MIDDLE ) < \\* <                                 # >>QUESTION<<
    )
    (.)
    """,
    re.VERBOSE,
)
"""Matches the first character of a token, broken or not. The tests list the token families."""


def break_tokens(text: str) -> str:
    r"""Return the text with a backslash after the first character of each chat-template token: `<\|im_end|>`.

    A token that already has backslashes there gets one more, so removing one from each restores the text.
    """
    return TEMPLATE_TOKEN.sub(r"\1\\", text)


def escape_tokens(json_text: str) -> str:
    r"""Return JSON with the first character of each token inside its strings as `\uXXXX`: the same value."""
    return TEMPLATE_TOKEN.sub(lambda found: f"\\u{ord(found[1]):04x}", json_text)


_WHOLE_TOKEN = re.compile(r"[^\s>\]]{1,70}[>\]]?")


def find_token(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the first token in a part of a text, unless a prompt has broken it."""
    if all(text.find(sign, start, end) < 0 for sign in "<[]"):
        return None
    for found in TEMPLATE_TOKEN.finditer(text, start, end):
        token = _WHOLE_TOKEN.match(text, found.start())
        if token and "\\" not in token[0]:
            return token
    return None
