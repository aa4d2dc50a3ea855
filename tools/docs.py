"""Write what the documentation repeats from the code: `make docs`. Read the diff after it.

The table of rules in the README, the reports and fixed texts on the pages of rules and dialects, the list of public
names in `docs/api.md`.
"""

from pathlib import Path

import api_page
import pages

from rubric_lint.rules import RULES

README = Path(__file__).parent.parent / "README.md"
MARKS = ("<!-- rules -->\n", "\n<!-- /rules -->")


def list_rules() -> str:
    """Return the table of all rules, from their pages and what they say of themselves."""
    rows = [
        f"| [`{rule.name}`](rubric_lint/rules/{rule.name.replace('-', '_')}.md) "
        f"| {rule.summary} | {rule.severity} | {rule.fix or ''} |"
        for rule in RULES
    ]
    return "\n".join(["| rule | finds | severity | fix |", "|---|---|---|---|", *rows])


def renew(readme: str) -> str:
    """Return the README with the table as it is now."""
    before, rest = readme.split(MARKS[0])
    return f"{before}{MARKS[0]}{list_rules()}{MARKS[1]}{rest.split(MARKS[1])[1]}"


def main() -> None:
    """Write all of them."""
    pages.write_all()
    README.write_text(renew(README.read_text("utf-8")), "utf-8")
    api_page.PAGE.write_text(api_page.renew(api_page.PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
