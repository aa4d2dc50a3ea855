"""The tool that assesses public data, with invented tables in the form of the public ones."""

import csv
import statistics

from public_data import SETS, TOPICS, write_set

LEVELS = range(1, 5)


def write(path, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, rows[0].keys(), delimiter="\t")
        table.writeheader()
        table.writerows(rows)


def test_the_likeliest_answers_are_compared_with_those_of_people(tmp_path):
    """On Q0 people fail 20 of 60 conversations and the judge none; on Q1 both say the same of the 30 that have it."""
    labels = [2 if number % 3 == 0 else 3 for number in range(60)]
    judged = {"Q0": [3 + number % 2 for number in range(60)], "Q1": labels}
    probabilities = [
        {"text_id": number, "criterion": name}
        | {f"answer{level}_prob": 0.7 if level == judged.get(name, labels)[number] else 0.1 for level in LEVELS}
        for name in TOPICS
        for number in range(60)
    ]
    people = [
        {"text_id": number, "annotator_id": "p1", **dict.fromkeys(TOPICS, ""), "Q0": float(label), "Q1": label}
        for number, label in enumerate(labels)
    ]
    for person in people[30:]:
        person["Q1"] = 0  # it does not apply
    write(tmp_path / "real_gpt-x.tsv", probabilities)
    write(tmp_path / "real_human_x.tsv", people)
    title, _, figures, _, _, _, first, second, *others, end = write_set(tmp_path, SETS[0])
    error = statistics.fmean((one - two) ** 2 for one, two in zip(judged["Q0"], labels, strict=True)) ** 0.5
    r = statistics.correlation(judged["Q0"], labels)
    assert (title, end) == ("### Real conversations", "")
    assert figures.startswith(
        f"Error on Q0 (root mean square) {error:.6f}, Pearson's r {r:.6f}, 60 labels; published: "
    )
    assert [cell.strip() for cell in first.split("|")[1:6]] == [
        *("Q0, overall satisfaction", "60", "not trusted"),
        *("0 of 20 (0% to 20%)", "40 of 40 (91% to 100%)"),
    ]
    assert "fix: " in first
    assert "the judge and people disagree" in first
    assert [cell.strip() for cell in second.split("|")[1:6]] == [
        *("Q1, naturalness", "30", "undecided"),
        *("10 of 10 (69% to 100%)", "20 of 20 (83% to 100%)"),
    ]
    assert [row.split("|")[2:6] for row in others] == [[" 0 ", " undecided ", " none ", " none "]] * 7
