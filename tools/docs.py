"""Write what the documentation repeats from the code, for `make renew`.

The reports and fixed texts on the pages of rules and dialects, the list of public names in `docs/api.md`, and the lists
of the reference: rules, settings, commands, schemas, fields of reports.
"""

import api_page
import pages
from website import reference
from website.sources import ROOT


def main() -> None:
    """Write all of them."""
    pages.write_all()
    api_page.PAGE.write_text(api_page.renew(api_page.PAGE.read_text("utf-8")), "utf-8")
    for path in sorted(ROOT.glob("docs/**/*.md")):
        path.write_text(reference.renew(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
