"""The words that teams use when they write a rubric in a form of their own.

Structure decides; these say where to look. Nothing else of the package says what the key of a home-made format may be.
"""

from collections.abc import Mapping
from typing import Final

Words = tuple[str, ...]


def list_names(text: str) -> Words:
    """Return the names in a text, which stand between white space."""
    return tuple(text.split())


class Containers:
    """What holds criteria, the most telling first: `strong` words do, `common` ones hold anything.

    `sections` hold parts of one rubric. A longer key counts by its last word: `common_criteria`, `module_rubrics`.
    `texts` hold what an answer is to have or not, in texts of which nothing says how they count.
    """

    strong: Final = list_names("criteria dimensions axes rubrics rubric")
    common: Final = list_names(
        """
        items sections questions aspects factors checklist checks requirements metrics
        """
    )
    sections: Final = list_names("sections groups categories areas pillars")
    texts: Final = list_names(
        """
        must_have must_include must_mention must_cover must_not must_not_have must_not_include must_not_mention
        should_have should_include should_mention should_not nice_to_have required_elements required_points
        required_facts key_points key_facts expected_points red_flags pass_criteria fail_criteria judge_rules
        scoring_rules grading_rules evaluation_rules
        """
    )


class Fields:
    """Our field of a criterion = the names that teams give it, the likeliest first."""

    id: Final = list_names("id key rubric_id criterion_id slug number name title dimension axis")
    text: Final = list_names(
        """
        description desc criterion criteria question definition must text prompt requirement statement pass_if pass_when
        expectation label good_anchor title name rubric_name name_en
        """
    )
    sure: Final = frozenset(list_names("description desc criterion definition requirement statement"))
    """Those of a text, whose values may have one word."""
    weight: Final = list_names("weight points max_points max_score score importance")
    points: Final = list_names("points max_points max_score score")
    levels: Final = list_names(
        """
        levels anchors scores scoring_guide scoring_guidance score_descriptions descriptions descriptors scale rubric
        items options score_levels
        """
    )
    gate: Final = list_names(
        """
        min_pass_score min_score minimum_score pass_threshold launch_threshold threshold hard_gate blocker must_pass
        critical required mandatory
        """
    )
    parts: Final = list_names("sub_criteria subcriteria sub_dimensions subdimensions")
    negative: Final = list_names("is_penalty is_negative negative")
    positive: Final = list_names("is_positive")
    scale: Final = list_names("scale score_scale score_range range")


class Headers:
    """What the columns of tables are called besides the keys above; an underscore stands for white space and hyphens.

    A word of several is the first that no other column is: a `name` is also a text next to an id, and a `score` alone.
    """

    number: Final = list_names("# no no. nr nr. code ref key number")
    name: Final = list_names(
        """
        criterion criteria check dimension aspect item metric category area factor principle quality name title
        kriterium critère critério criterio 維度 维度
        """
    )
    text: Final = list_names(
        """
        meaning anchor anchors definition descriptor details explanation indicator indicators what_it_means
        what_it_measures what_to_measure what_it_looks_like looks_like what_to_look_for what_they_look_for behavior
        behaviour pass pass_condition pass_criteria guidance pregunta descripción significado descrição beschreibung
        描述 具體描述 檢查項
        """
    )
    weight: Final = list_names("points pts max maximum weighting weight_% peso poids gewicht 權重 权重")
    score: Final = list_names("points pts score grade mark puntuación punkte 分 分數 分数")
    gate: Final = list_names("min floor minimum pass_mark")


class LevelWords:
    """The fields of a level, and the words that are names of levels.

    `two` are ladders of two words, the lower one = the higher one. Yes is not always the better answer. A blank in a
    word is an underscore.
    """

    score: Final = list_names("score points level value rating range score_range band")
    named: Final = list_names("level name label rating")
    text: Final = list_names("description text rule definition criteria anchor meaning label name")
    two: Final[Mapping[str, str]] = {"fail": "pass", "failed": "passed", "unmet": "met", "not_met": "met"}
    words: Final = frozenset(
        list_names(
            """
        poor fair good very_good excellent fail partial pass none some full weak strong bad ok great low medium high
        adequate inadequate acceptable unacceptable satisfactory unsatisfactory needs_improvement developing
        proficient exemplary basic beginning emerging exceeds meets below outstanding average met partially_met
        not_met yes no true false failed unmet passed
        """
        )
    )


class SurroundingWords:
    """What stands next to the criteria, or in a mapping of `settings` there: signs that a judge reads them."""

    settings: Final = list_names("scoring settings metadata pass_gate thresholds")
    passes: Final = list_names(
        """
        pass_threshold overall_pass_threshold passing_threshold passing_score pass_score minimum_passing_score
        min_passing_score minimum_pass_score minimum_overall_score min_overall_score threshold
        """
    )
    scale: Final = list_names("scale score_scale scoring_scale score_range scale_range rating_scale")
    levels: Final = list_names(
        """
        scoring_rubric score_levels levels anchors scoring_guide score_descriptions scale rating_scale
        """
    )
    lowest: Final = list_names("scale_min score_min min_score")
    highest: Final = list_names("scale_max score_max max_score")
    total: Final = list_names("total_weight total_points max_points total total_marks")


class Foreign:
    """Signs of what people or programs judge, or of what was judged already.

    Keys `around` criteria (`words` also as a part of one), and keys of most of them (`entry`), of which criteria of a
    judge may have the `plain` ones as well. A file with one of `never` at its top is another tool's.
    """

    never: Final = frozenset(list_names("apiVersion openapi swagger"))
    around: Final = frozenset(
        list_names(
            """
        assignment bidder candidate candidates contest course exam homework job jobs judges players position
        properties results role semester sprint standard student students supplier suppliers tender vendor vendors
        """
        )
    )
    words: Final = frozenset(list_names("assignment exam homework semester student"))
    plain: Final = frozenset(list_names("owner reason status url"))
    entry: Final = list_names(
        """
        candidate check choices contains evaluator expected expr font function input keywords level met must_contain
        must_not_contain offers operator owner passed pattern patterns ratings reason reasoning regex satisfied scorer
        status supplier url verdict
        """
    )


FILES: Final[Mapping[str, str]] = {
    "judged": r"(?:rubric|judge|eval)[^/\\]*(?:[/\\][^/\\]*)?\Z",
    "described": r"(?:criteria|scoring|benchmark)[^/\\]*(?:[/\\][^/\\]*)?\Z",
    "own": r"(?:rubric|criteria|dimension)[^/\\]*\Z|(?:\A|[/\\])rubrics?[/\\][^/\\]*\Z",
    "rubric": r"rubric[^/\\]*\Z|(?:\A|[/\\])rubrics?[/\\][^/\\]*\Z",
    "translated": r"(?:\A|[/\\])(?:locales?|i18n|l10n|lang|langs|translations?)[/\\]",
}
"""Patterns of the names of files: of a file or folder that a judge reads, of one where it reads described levels, of a
file that is a rubric, by its name or as one of a folder of rubrics (also by the word alone), and of one that is a
translation."""

_TEXTS = {
    # What a case expects, and what it asks.
    "expected": "expected expected_behavior expected_behaviors expectations",
    "asks": "input prompt question query user_input user_message",
    # What it may ask as well, though criteria have such keys too.
    "tasks": "task instruction instructions scenario goal goals objective user",
    # What was answered, and how it was judged.
    "answered_by": "answer completion output response result results score scores verdict",
    # What an answer is compared with, as the first word of a key of a case.
    "answers": "answer expected gold golden ground reference",
    # Words in the key of a text that is never what is judged.
    "apart": """
        ref refs reference references spec source sources author authors owner owners url link links file files
        path paths best answer answers solution solutions example examples input inputs output outputs model
        persona id slug version date template templates system
    """,
    # The texts that are met or not.
    "answered": "pass_if pass_when",
    # Words in the key of a text that says what an answer is not to do.
    "against": """
        anti antipattern avoid bad detrimental error errors fail failing fails failure failures incorrect mistake
        mistakes negative never not pitfall pitfalls poor unacceptable violation violations weak worst wrong
    """,
    # A penalty.
    "penalty": """
        penalty penalties penalize penalise penalized negative negatives negate negated deduct deducts deduction
        deductions demerit demerits malus
    """,
    # A flag that says so too.
    "must": "must required require requires mandatory critical essential",
    # The score that passes.
    "mark": "pass passing threshold thresholds cutoff cutoffs acceptance accept",
    # What must be met, by a number, a flag or a word, and those of its words that are also grades of severity.
    "gate": """
        gate gates gating gated veto vetoes vetos knockout knockouts ko hard blocker blockers blocking fatal
        dealbreaker dealbreakers disqualify disqualifies disqualifying disqualifier disqualifiers autofail redflag
        redflags showstopper
    """,
    "severe": "hard blocker blockers blocking fatal ko gated gating",
    # Scores that are raised or held down.
    "changes": "bonus bonuses cap caps capped ceiling",
    # A key that holds for some answers only.
    "conditions": "if when unless only except otherwise depends dependent applies effect",
    # A key of a rule that says in which case it holds.
    "rules": "if when unless condition conditions trigger triggers",
    # Parts of an evaluation that may have conditions of their own.
    "of_cases": "case cases test tests scenario scenarios step steps workflow routes tools difficulty",
    # A key whose text says when an answer passes, however long it is.
    "verdicts": "rule rules decision verdict logic policy",
    # A key that bears on scores, whatever else it says.
    "bearing": "ranking rating scale score scores scoring weight",
    # A key that says what something is, not how it counts; where, when, or how many.
    "harmless": """
        name names title titles label labels display type kind category categories domain topic topics area aspect
        scope role language lang locale format schema model models provider judge prompt template author authors
        owner owners team group created updated by since source sources reference references ref refs file path link
        links license tag tags status project benchmark dataset task metric definition details summary purpose tie
        help hint hints remark remarks key code slug icon color colour emoji module section assignment course
        subject audience behavior evaluator evidence explanations instructions mistake mistakes question questions
        reasoning id ids line lines row column page index order position number version year month day date time
        timestamp seed temperature count length chapter step phase increment precision decimals confidence samples
        metadata meta info revision edition sampling generation params parameters runner calibration pages years
    """,
    # A key whose value says by a rule of its own whether it bears on a score.
    "ruled": "scoring method weighted sign better best worst ideal optimal perfect reversed inverted",
    # Scores that fail, or are borderline.
    "less": "fail fails failing borderline warn warning",
    # The lowest of something.
    "least": "least min mins minimum minimums required lowest",
    # What a lowest score is one of.
    "of_scores": "score scores grade mark marks total overall points rating average composite weighted combined",
    # How scores combine.
    "ways": "combine combination aggregate aggregation aggregator formula reduce reducer reduction pooling",
    # Ways that are a weighted mean.
    "means": "mean average avg weighted sum total",
    # Ways that are none.
    "other_means": """
        geometric harmonic trimmed median minimum min lowest worst maximum max highest best product multiply
        multiplicative majority strictest weakest
    """,
    # Another file whose criteria are meant too.
    "extends": "extends extend inherits inherit",
    # Weights that do not count.
    "alike": "equal equally uniform same none",
    # A key about something else than a score.
    "notes": """
        tie ties note notes rationale reason reasons comment comments description explanation guidance why
        example examples label title source url link retry retries timeout latency cost costs budget token
        tokens ms seconds memory similarity
    """,
    # What sort of scale one is, whose scores something else says.
    "scale_kinds": "ordinal nominal likert numeric categorical continuous discrete integer interval",
    # Answers with the score that they have.
    "samples": "feedback example examples sample samples exemplar exemplars demonstration demonstrations shots",
    # Levels, in a key.
    "ladders": "levels ladder",
    # Parts of a page: sections of a site or a newspaper are called rubrics too.
    "pages": "slug href url link icon image img parent color colour",
    # What runs, and where that is on which it runs.
    "programs": """
        cmd command script module function callable executable entrypoint binary dir dirs directory folder tasks
        dataset
    """,
    # The kind of a question whose answer is one of some options.
    "choices": """
        choice choices select enum option options classify classification categorical category label route routing
    """,
    # The kind or the sign of a criterion.
    "kinds": "type kind polarity sign",
    # How much something counts.
    "weights": "weight weights weighting weightage importance points pts multiplier worth",
    # What holds where nothing else is said.
    "defaults": "default defaults",
    # An answer is better without what the criterion describes.
    "avoided": """
        avoid avoided avoidance exclude excludes excluded exclusion dont donts bad forbidden forbid prohibited
        undesired undesirable unwanted disallowed unacceptable harmful absent absence mustnt shouldnt disallow
        prohibit
    """,
    # An answer is better with it.
    "wanted": """
        positive should allowed desirable desired wanted good acceptable include expected correct want expect
        present met target
    """,
    # What turns a word around.
    "not": "not never no",
    # What an answer does.
    "done": "must should shall may can do does contain contains mention mentions",
    # A criterion counts.
    "counted": "enabled active counted counts count scored graded weighted",
    # It does not.
    "left_out": """
        disabled skip skipped ignore ignored deprecated excluded unscored ungraded informational informative
        advisory experimental reportonly infoonly displayonly
    """,
    # Grades, and what is decided by a score.
    "grades": """
        grade grades grading band bands tier tiers verdict verdicts cutoffs boundaries interpretation
        interpretations classification decision decisions outcome outcomes action actions recommendation
        recommendations
    """,
    # Scores are added up.
    "sums": "sum summed total additive cumulative",
    # Whose weights they are.
    "of_criteria": "criteria criterion dimension dimensions rubric score scores scoring",
    # What says how an output is written, in a key: what it requires is no gate.
    "of_formats": "output outputs schema response responses format contract",
    # The parts of an output.
    "of_outputs": "field fields key keys column columns inputs files tools",
    # What a case asks, which says nothing of its score.
    "inputs": "vars variables input inputs messages",
    # A mapping in a suite that says how to score; another one may be the input of a test.
    "settings": """
        settings scoring grading execution evaluation config configuration options defaults judge scale verdict
        threshold thresholds
    """,
    # A share or a number of tests.
    "of_tests": "rate rates count counts k",
    # A direction that is one of scores, not of tests or texts.
    "of_ranks": "better best worst worse low lower lowest high higher highest score scores scoring scale ideal",
    # Lower is better, or lower scores.
    "low_words": """
        low lower lowest min minimum minimize minimise minimizing down downward desc descending decreasing
        decrease less fewer smaller smallest inverse inverted reverse reversed avoid exclude negative worse worst
    """,
    # Higher is better, or higher scores.
    "high_words": """
        high higher highest max maximum maximize maximise up upward asc ascending increasing increase more greater
        larger positive include included good normal standard forward better best plus reward
    """,
    # Which scores are better.
    "directions": "direction polarity orientation valence sense",
    # What is aimed at.
    "aims": "goal objective optimize optimise optimization order trend preference",
    # A scale that is turned around.
    "turned": "reverse reversed inverse inverted invert flip flipped",
    # The words next to it.
    "of_scales": "is score scores scored scoring scale coded",
    # The best score, as a key.
    "best": "best ideal optimal optimum perfect target",
    # The words next to it.
    "of_best": "worst score value level rating possible",
    # What else than a judge decides about a criterion.
    "other_judges": """
        automated automatic deterministic code script program programmatic regex exact computed manual human
    """,
    # A key that says who or what decides.
    "of_judges": "type kind mode method grader judge evaluator evaluation scorer scoring check measured by",
    # A field that says how a criterion is answered.
    "of_answers": """
        type kind mode format scale score scoring scored grading rating answer response judgment evaluation
    """,
    # A scale, where the value is one.
    "scales": "scale scales rating ratings range",
    # A criterion does not hold for all answers.
    "applies": "na applicable applicability",
    # A penalty, where it is true; other words may turn an answer around.
    "penalty_flags": "penalty negative malus deduction",
    # Of these, a file of criteria has one or more.
    "scored": "weight points score levels anchors scale threshold descriptions must percent",
    # A number of things, not a score.
    "amounts": "num number count",
}
SETS: Final[Mapping[str, frozenset[str]]] = {name: frozenset(words.split()) for name, words in _TEXTS.items()}
"""Words of a key, or of a value, by what they say."""
