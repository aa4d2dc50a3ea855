"""Files of other tools that speak of rubrics, criteria, scores, weights and judges: rubric-lint leaves them alone."""

import json
from pathlib import Path
from textwrap import dedent

import pytest
from lint_command import call

from rubric_lint.lint.engine import lint

# Each is written here, in the form that its tool has.
FILES = {
    # schools
    "syllabus.yaml": """\
        course: ENG 101
        rubrics:
          - title: Organization
            weight: 20
            levels: {4: Clear structure, 3: Mostly clear, 2: Hard to follow, 1: None}
          - title: Grammar
            weight: 10
            levels: {4: No errors, 3: Few errors, 2: Many errors, 1: Cannot be read}
        """,
    "essay.yml": """\
        rubrics:
          - name: Thesis
            description: Has a claim
            points: 10
            levels:
              - {level: 4, label: Excellent, description: States a claim}
              - {level: 1, label: Poor, description: States none}
        """,
    "lab-report.json": """\
        {"rubrics": [{"criterion": "Hypothesis", "points": 5, "levels": {"5": "Can be tested", "0": "Missing"}}]}
        """,
    "deductions.json": """\
        {"assignment": "Lab 2", "rubrics": [{"criterion": "Late, for each day", "points": -5},
                                            {"criterion": "Compiles", "points": 50}]}
        """,
    "canvas_export.json": """\
        {"rubric": [{"id": "_8027", "criterion_use_range": false, "points": 4, "description": "Evidence",
          "long_description": "", "ratings": [{"id": "blank", "description": "Full marks", "points": 4}]}],
         "rubric_settings": {"points_possible": 4, "title": "Essay"}}
        """,
    "moodle.json": """\
        {"definition": {"rubric_criteria": [{"id": 1, "sortorder": 1, "description": "Style",
          "levels": [{"id": 1, "score": 0, "definition": "Poor"}, {"id": 2, "score": 2, "definition": "Good"}]}]}}
        """,
    "openedx.json": """\
        {"rubric": {"prompts": [{"description": "Why?"}], "criteria": [{"name": "Ideas", "prompt": "Has ideas",
          "feedback": "optional", "options": [{"name": "Poor", "points": 0, "explanation": "Has none"}]}]}}
        """,
    "google_classroom.json": """\
        {"rubrics": [{"courseId": "1", "creationTime": "2026-01-01T00:00:00Z", "criteria": [{"id": "a",
          "title": "Argument", "description": "How well", "levels": [{"id": "b", "title": "Good", "points": 3}]}]}]}
        """,
    "github_classroom/autograding.json": """\
        {"tests": [{"name": "It builds", "setup": "make", "run": "./a.out", "input": "", "output": "ok",
          "comparison": "exact", "timeout": 10, "points": 5}]}
        """,
    "gradescope/results.json": """\
        {"score": 4.0, "tests": [{"score": 2, "max_score": 2, "name": "sums", "output": "ok", "visibility": "visible"}]}
        """,
    "otter/hw01.yml": """\
        name: hw01
        rubrics: [{question: q1, points: 2, manual: true}]
        tests: {files: tests/}
        """,
    "homework.json": """\
        {"question": "Why do leaves turn red?", "rubric": [
          {"title": "Late", "description": "Each day late", "weight": -1},
          {"title": "Untidy", "description": "Cannot be read", "weight": -1}]}
        """,
    "important_dates.json": """\
        {"question": "When was the war?", "rubric": [
          {"title": "Dates", "description": "Important dates are named", "weight": 3}]}
        """,
    "peer_review.json": """\
        {"prompt": "Read two essays", "rubric": [{"title": "Fair", "description": "Reads both", "weight": 1},
                                                 {"title": "Rude", "description": "Insults", "weight": -2}]}
        """,
    "quiz.yaml": """\
        name: Colours
        prompt: What colour is the sky?
        choice_scores: {red: 0, green: 0, blue: 1}
        """,
    "personality.json": """\
        {"questions": [{"prompt": "At a party you ...", "choices": ["talk", "hide"],
          "choice_scores": {"talk": 5, "hide": -5}}]}
        """,
    "exam.json": '[{"name": "q1", "text": "What is 2 + 2?", "choices": ["3", "4"], "weight": 2}]\n',
    "survey.json": """\
        [{"name": "smoker", "text": "Do you smoke?", "choices": ["yes", "no"]},
         {"name": "mood", "text": "How are you?", "choices": ["good", "bad"]}]
        """,
    "competencies.yaml": """\
        rubrics:
          speaking: {title: Speaking, levels: {1: Says words, 2: Says sentences, 3: Tells a story}}
          reading: {title: Reading, levels: {1: Knows letters, 2: Reads words, 3: Reads books}}
        """,
    "scoring_guide.yaml": """\
        rubrics:
          - criterion: Content
            score_range: [0, 5]
            guidance: See the handbook
        """,
    "teacher_bands.json": (
        '{"rubrics": [{"band": "A", "score_range": [90, 100]}, {"band": "B", "score_range": [80, 89]}]}'
    ),
    # companies and people
    "hiring.yaml": """\
        position: Engineer
        criteria:
          - {name: Go, description: Five years of Go, weight: 3, levels: [none, some, deep]}
        rubric: See the wiki
        """,
    "scorecard.json": """\
        {"position": "Engineer", "criteria": [{"name": "Go", "text": "Five years of Go", "weight": 3},
                                              {"name": "SQL", "text": "Reads query plans", "weight": 1}]}
        """,
    "job.json": '[{"requirement": "Drives a truck", "weight": 5, "candidate": "yes"}]\n',
    "tender.yaml": """\
        criteria:
          - {requirement: ISO 27001, weight: 40, supplier: A, score: 3}
          - {requirement: Price, weight: 60, supplier: A, score: 5}
        """,
    "okr.yaml": """\
        objectives:
          - {title: Grow, weight: 0.5, score: 0.7, levels: {1: Missed, 2: Met}}
        """,
    "vendor_rating.json": (
        '{"criteria": [{"criterion": "Delivery", "points": 20}, {"criterion": "Price", "points": 80}]}'
    ),
    "career_ladder.yaml": """\
        levels:
          1: {title: Junior, criteria: [Ships small changes]}
          2: {title: Senior, criteria: [Leads projects]}
        """,
    "grant.yaml": """\
        rubrics: [{section: Impact, max_score: 10, weight: 0.4}, {section: Budget, max_score: 5, weight: 0.6}]
        judges: [{name: A. Judge, email: a@example.org}]
        """,
    "hackathon.json": """\
        {"judges": ["A", "B"], "rubric": [{"title": "Idea", "description": "Is it new?", "weight": 30}],
         "prompt": "Build a bot"}
        """,
    # sites and blogs
    "mkdocs.yml": """\
        site_name: My blog
        theme: {name: material}
        plugins: [search, blog]
        extra: {rubrics: [News, Tests]}
        """,
    "_config.yml": (
        "title: A blog\nrubrics:\n  - {name: Sport, slug: sport, weight: 1}\n  - {name: Art, slug: art, weight: 2}\n"
    ),
    "hugo/menu.yaml": "menu:\n  main:\n    - {identifier: rubrics, name: Rubrics, url: /rubrics/, weight: 10}\n",
    "hugo/hugo.toml": (
        'title = "Blog"\n[[menu.main]]\nname = "Rubrics"\nurl = "/rubrics"\nweight = 3\n[params]\ncriteria = "x"\n'
    ),
    "newspaper.json": '{"rubrics": [{"id": 1, "title": "Politics", "description": "News of the day", "articles": []}]}',
    "i18n/de.json": '{"rubrics": "Rubriken", "criteria": "Kriterien", "score": "Punkte", "rubric_id": "Rubrik"}',
    "i18n/en.yml": (
        'en:\n  rubric: {one: Rubric, other: Rubrics}\n  rubrics: {title: Rubrics, criteria: {text: "Text", '
        'weight: "Weight"}}\n'
    ),
    "strapi/schema.json": """\
        {"kind": "collectionType", "collectionName": "rubrics", "attributes": {
          "title": {"type": "string", "required": true}, "rubrics": {"type": "relation",
            "target": "api::rubric.rubric"}}}
        """,
    "menu.json": (
        '[{"name": "Title", "text": "Hello", "weight": 700}, {"name": "Body", "text": "World", "weight": 400}]\n'
    ),
    "fonts.json": '{"criteria": [{"name": "Title", "text": "Hello", "weight": 700}], "theme": "dark"}',
    # sports and games
    "match.yaml": "match:\n  date: 2026-05-01\n  score1_description: Goal by Kane\n  score2_description: Penalty\n",
    "tie.json": '{"sides": {"score1_description": "Goal by Kane", "score2_description": "Penalty"}}',
    "result.json": '{"home": "A", "away": "B", "score1": "2", "score2": "1", "rubric": "cup"}',
    "tennis.json": """\
        {"rubrics": {"sport": {"score1": "6", "score2": "4"}}, "players": ["A", "B"]}
        """,
    "game_levels.yaml": "levels:\n  - {level: 1, name: Cave, enemies: 3}\n  - {level: 2, name: Castle, enemies: 9}\n",
    "achievements.json": '[{"id": "first", "title": "First blood", "criteria": {"kills": 1}, "points": 10}]',
    "judging.yaml": (
        "judges: 5\nscore_range: [0, 10]\ncriteria: [{name: Landing, description: Stands still, weight: 2}]\n"
    ),
    # operations
    ".github/workflows/ci.yml": """\
        name: CI
        on: push
        jobs:
          test:
            runs-on: ubuntu-latest
            steps:
              - {uses: actions/checkout@v4}
              - {name: Check rubrics, run: make rubrics}
        """,
    ".github/ISSUE_TEMPLATE/bug.yml": """\
        name: Bug
        body:
          - {type: textarea, id: criteria, attributes: {label: Acceptance criteria}, validations: {required: true}}
        """,
    "deployment.yaml": """\
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: rubrics, annotations: {importance: must have, type: verifier}}

                 spec:
          template: {spec: {affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}}}
        """,
    "hpa.yaml": (
        "kind: HorizontalPodAutoscaler\nspec: {metrics: [{type: Resource, resource: {name: cpu}}]}\nrubrics: []\n"
    ),
    "prometheus.yml": (
        "groups:\n  - name: rubrics\n    rules: [{alert: Slow, expr: score > 1, annotations: {title: Slow}}]\n"
    ),
    "kyverno.yaml": (
        "spec:\n  rules: [{name: a, validate: {message: needs criteria, pattern: {metadata: {labels: {}}}}}]\n"
    ),
    "openapi.yaml": """\
        openapi: 3.1.0
        paths: {/rubrics: {get: {responses: {"200": {description: All rubrics}}}}}
        components:
          schemas:
            Rubric: {type: object, properties: {rubrics: {type: array, items: {type: string}}, weight: {type: number}}}
        """,
    "swagger.json": """\
        {"swagger": "2.0", "definitions": {"Rubric": {"properties": {"expected_outcome": {"type": "string"},
          "score_range": {"type": "array"}, "rubrics": {"type": "array", "items": {"$ref": "#/definitions/Rubric"}}}}}}
        """,
    "asyncapi.yaml": "asyncapi: 3.0.0\nchannels: {rubrics: {messages: {scored: {payload: {score: 1}}}}}\n",
    "ansible/site.yml": """\
        - hosts: all
          tasks:
            - assert: {that: ["score > 3"], fail_msg: Not met}
            - {name: judge, include_role: {name: rubrics}, when: criteria is defined}
        """,
    "molecule/verify.yml": (
        "- name: Verify\n  hosts: all\n  tasks: [{assert: {that: [criteria]}, tests: [{assert: [a == b]}]}]\n"
    ),
    "airflow/dag.yaml": (
        "dags: [{dag_id: score_rubrics, tasks: [{task_id: judge, weight_rule: downstream, priority_weight: 3}]}]\n"
    ),
    "dbt/schema.yml": """\
        version: 2
        models:
          - name: rubrics
            description: One row for each rubric
            columns: [{name: weight, tests: [not_null, {accepted_values: {values: [1, 2]}}]}]
        """,
    "dbt/expectations.yml": (
        "models: [{name: scores, tests: [{assert: score >= 0, criteria: all}, {id: a, input: b}]}]\n"
    ),
    "great_expectations.json": """\
        {"expectation_suite_name": "rubrics",
          "expectations": [{"expectation_type": "expect_column_values_to_be_between",
          "kwargs": {"column": "score", "min_value": 0, "max_value": 10}, "meta": {"rubrics": ["a"]}}]}
        """,
    "soda.yml": "checks for rubrics:\n  - row_count > 0\n  - missing_count(criterion) = 0\n",
    "sonar_gate.json": """\
        {"name": "Sonar way", "conditions": [{"metric": "new_coverage", "op": "LT", "error": "80"}], "rubrics": null}
        """,
    "sonar_rules.yaml": "rules: [{key: S100, severity: MAJOR, requirement: Names, weight: 1, tags: [style]}]\n",
    "semgrep.yml": (
        "rules:\n  - {id: a, pattern: assert $X, message: Use criteria, severity: ERROR, languages: [python]}\n"
    ),
    "conftest_policy.yaml": "tests:\n  - {name: denies, input: {kind: Pod}, assert: [deny, warn], criteria: strict}\n",
    "helm_unittest.yaml": """\
        suite: rubrics
        tests:
          - it: renders
            asserts: [{equal: {path: kind, value: Rubric}}]
            assert: [{type: contains, value: rubrics}]
        """,
    "artillery.yml": (
        "config: {target: x}\nscenarios: [{flow: [{get: {url: /rubrics, expect: [{statusCode: 200}]}}]}]\n"
    ),
    "k6.json": '{"scenarios": {"rubrics": {"executor": "constant-vus"}}, "thresholds": {"score": ["p(95)<1"]}}',
    "tavern.tavern.yaml": """\
        test_name: Rubrics
        stages: [{name: get, request: {url: /rubrics}, response: {status_code: 200, verify_response_with: [criteria]}}]
        """,
    "pact.json": (
        '{"interactions": [{"description": "a rubric", "request": {"path": "/rubrics"}, "response": {"status": 200}}]}'
    ),
    "wcag.yaml": """\
        criteria:
          - {name: Contrast, description: Text stands out, guidance: Use 4.5 to 1, level: AA}
          - {name: Focus, description: Focus is seen, guidance: Keep the outline, level: A}
        """,
    "bpmn.json": '{"sub_tasks": [{"requirements": "Form A", "sub_tasks": []}], "requirements": "Apply", "weight": 1}',
    "jira_export.json": """\
        {"issues": [{"id": "1", "title": "Crash", "annotations": {"type": "bug", "importance": "must have"}}]}
        """,
    "asana.json": '[{"id": "1", "title": "Ship", "annotations": {"type": "task", "importance": "high"}}]\n',
    "requirements.json": '[{"id": "R1", "requirement": "The pump stops", "weight": 1, "verified_by": "test"}]\n',
    "risk.yaml": "criteria:\n  - {requirement: Backups, weight: 3, owner: ops}\nrubric: internal\n",
    "image_labels.json": """\
        [{"id": 7, "title": "street.png", "annotations": {"type": "polygon", "importance": 2, "points": [[0, 1]]}}]
        """,
    "label_studio.json": (
        '[{"id": 1, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["yes"]}}]}]}]\n'
    ),
    "model.json": '{"type": "label_model", "labels": ["cat", "dog"], "weights": [0.1, 0.9], "passing_score": 0.5}',
    "training.yaml": "model: {choices: 4}\nloss: {weight: 0.5, criterion: mse}\ncriterion: {points: 3}\nscore1: 2\n",
    "llm_config.yaml": "llm_judge: {model: x, rubric: {path: rubrics/a.md}, criteria: [{id: a, description: b}]}\n",
    "eval_settings.json": '{"criteria": {"response_match_score": 0.8, "rubric_based_score": {"threshold": 0.5}}}',
    "langsmith.yaml": "evaluators:\n  - {name: judge, prompt: Rate it, criteria: helpfulness, input: question}\n",
    "guardrails.yaml": "rubrics: {enabled: true}\nchecks: [{type: factuality, value: 0.7, weight: 2}]\n",
    "ci_promptlike.yaml": (
        "tests:\n  - {vars: {a: 1}, assert: [{type: equals, value: rubric}, {type: regex, value: score}]}\n"
    ),
    "steps.yaml": "steps: [{id: a, input: b, assert: [exit == 0], expected_outcome_code: 0}]\n",
    "clinical.yaml": """\
        study: A1
        criteria: {inclusion: [Adults], exclusion: [Pregnant]}
        outcome: Mortality
        expected_outcomes: [None]
        """,
    "law_criteria.json": (
        '{"criteria": [{"id": "a", "description": "Applies in Berlin", "weight": 1}], "rubric": "Art. 5"}'
    ),
    "stackoverflow.json": '{"items": [{"title": "Rubric", "score": 5, "score1": "a", "score_range": "1-5"}]}',
    # tools of programmers
    "pyproject.toml": """\
        [project]
        name = "rubrics"
        description = "Scores criteria"
        [tool.ruff.lint]
        select = ["E"]
        [tool.rubric]
        criteria = ["text"]
        """,
    "Cargo.toml": (
        '[package]\nname = "judge"\ndescription = "criteria"\n[dev-dependencies]\ncriterion = "0.5"\n'
        '[[bench]]\nname = "text"\n'
    ),
    "task.toml": '[[criterion]]\nid = "A"\ndescription = "Login works"\nstatus = "open"\npoints = 3\n',
    "judge.toml": '[judge]\ntime_limit = 2\n[[test]]\nname = "a"\npoints = 10\ndescription = "sums"\n',
    "survey.toml": (
        'title = "Mood"\npages = 2\n[[criteria]]\nname = "q1"\ntext = "How are you?"\nchoices = ["good", "bad"]\n'
    ),
    "goals.toml": '[[criteria]]\nname = "Speed"\ndescription = "Is fast"\nguidance = "Measure it"\nowner = "ops"\n',
    ".eslintrc.json": '{"rules": {"complexity": ["error", {"max": 10}], "criteria": "off"}, "rubrics": {"score": 1}}',
    "package.json": (
        '{"name": "rubrics", "scripts": {"judge": "node judge.js"}, "devDependencies": {"criteria": "^1.0.0"}}'
    ),
    "lighthouse.json": """\
        {"categories": {"seo": {"title": "SEO", "auditRefs": [{"id": "title", "weight": 1}], "score": 0.9}},
         "assertions": {"first-paint": ["warn", {"minScore": 0.6}]}}
        """,
    "lighthouserc.yml": "ci: {assert: {assertions: {'categories:seo': [error, {minScore: 0.9}]}}}\n",
    "schema.json": """\
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"rubrics": {"type": "array",
          "items": {"properties": {"expected_outcome": {"type": "string"}, "levels": {"type": "object"}}}}}}
        """,
    "graphql.json": (
        '{"data": {"__type": {"name": "Rubric", "fields": [{"name": "rubrics"}, {"name": "expectedOutcome"}]}}}'
    ),
    "composer.json": '{"name": "x/rubrics", "require": {"php": ">=8"}, "extra": {"rubrics": {"weight": 1}}}',
    "renovate.json": '{"extends": ["config:base"], "packageRules": [{"matchPackageNames": ["rubrics"], "weight": 1}]}',
    "coco.jsonl": (
        '{"question": "Which?", "choices": ["a", "b"], "score": 1}\n{"question": "Why?", "rubric": "See above"}\n'
    ),
    "mmlu.jsonl": '{"name": "q", "text": "2+2", "choices": ["3", "4"], "weight": 1}\n',
    "trace.jsonl": '{"event": "judge", "rubrics": {"score": 3}, "criteria": "x"}\n',
    "feedback.jsonl": '{"instruction": "Write", "rubric": "score1: bad", "score": "4", "score1": "1", "score2": "2"}\n',
    "bench.yaml": (
        "task: x\ndoc_to_choice: [A, B]\nmetric_list: [{metric: acc, aggregation: mean, weight_by_size: true}]\n"
    ),
    # what differs from a dialect in one field
    "tracker.json": """\
        {"id": "1", "requirements": "Apply", "weight": 1, "sub_tasks": [
          {"id": "2", "requirements": "Form A", "weight": 1, "sub_tasks": []}]}
        """,
    "intents.json": '[{"id": "1", "title": "Greeting", "annotations": {"type": "intent", "importance": "high"}}]\n',
    "lms_table.json": """\
        {"rubrics": [{"rubric_id": "12", "rubric_content": {"title": "Essay", "body": "..."}}]}
        """,
    "standard.yaml": """\
        standard: WCAG
        criteria: [{name: Contrast, description: Text stands out, guidance: Use 4.5 to 1}]
        """,
    "bids.yaml": """\
        tender: T-7
        supplier: A
        criteria: [{requirement: ISO 27001, weight: 40}, {requirement: Price, weight: 60}]
        """,
    "contest.toml": '[judge]\ntime_limit = 2\n[[criterion]]\nname = "a"\ndescription = "sums"\nstatus = "open"\n',
    "criteria_sizes.json": '{"criteria": [{"name": "Title", "text": "Hello", "weight": 700, "font": "Arial"}]}',
    # Python
    "models.py": """\
        class Rubric(Base):
            score_range = Column(String)
            expected_outcome = Column(Text)
        """,
    "test_ranges.py": """\
        CASES = [
            dict(score_range=(0, 1), expected_outcome=True),
            dict(score_range=(0, 1), expected_outcome=False),
        ]
        """,
    "test_gate.py": """\
        @pytest.mark.parametrize("case", [Case(score_range=(0, 4), expected_outcome="reject")])
        def test_gate(case):
            assert gate(case.score_range) == case.expected_outcome
        """,
    "test_grades.py": """\
        from school import rubric
        CASES = [Case(score_range=(0, 4), expected_outcome=Grade.F), Case(score_range=(5, 10), expected_outcome=1)]
        CASES += [Case(score_range=(0, 1), expected_outcome=None)]
        """,
    "loans.py": 'RULES = [Rule(score_range=(300, 580), expected_outcome="reject")]\n',
    "frames.py": """\
        scores = scores.rename(columns={"score1_description": "first", "score2_description": "second"})
        labels = {"score1_description": "Home", "score2_description": "Away", "score3_description": "Referee"}
        """,
    "report.py": """\
        row = dict(score1_description=home.text, score2_description=away.text)
        send(payload={"score1_description": f"{home}", "score2_description": f"{away}"})
        """,
    "teaching.py": 'judge(rubric=[Rubric(1, "Bad"), Rubric(3, "Average")], criteria=["a"])\n',
    "lms.py": 'rubric = course.create_rubric(criteria=[{"description": "Style", "points": 5, "ratings": []}])\n',
    "grader.ipynb": """\
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {},
          "outputs": [],
          "source": ["df.rename(columns={'score1_description': 'a', 'score2_description': 'b'})\\n",
                     "case = dict(score_range=(0, 1), expected_outcome=True)"]}]}
        """,
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_tool_is_left_alone(name):
    result = lint(name, dedent(FILES[name]).encode())
    known = [each for each in result.unread if each.is_known]
    assert (result.rubrics, result.findings, known) == (0, (), [])


def test_a_whole_folder_of_them_is_one_quiet_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        path = Path("files", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    for paths in (["files"], [f"files/{name}" for name in FILES]):
        report, _, code = call("--format=json", *paths)
        summary = json.loads(report)["summary"]
        assert (code, summary["files_with_rubrics"], json.loads(report)["findings"]) == (0, 0, [])
