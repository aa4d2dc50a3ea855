-- Scores judge outputs (texts) by the rubric summary, version 5997e485583fec87, in Spark SQL.
-- Written by rubric-lint VERSION; write it again when the rubric changes.
-- One row for each output: status is valid, invalid (error says why) or unread. The query cannot decide
-- unread outputs; score them with rubric-lint score. The score is exactly points / full.
WITH
-- 1. The text without blanks around it
scoring_1 AS (
  SELECT
    `id`,
    trim(BOTH decode(unhex('20090b0c0dc2a0e19a80e28080e28081e28082e28083e28084e28085e28086e28087e28088e28089e2808ae2808be2808ce2808de2808ee2808fe280afe2819fe281a0e38080efbbbf0a'), 'UTF-8') FROM CAST(output AS STRING)) AS body,
    NOT regexp_like(typeof(output), r'\A(?:string|varchar|char|void)\b') AS is_odd
  FROM `outputs`
),
-- 2. Is it one Markdown fence?
scoring_2 AS (
  SELECT
    *,
    COALESCE(body LIKE '```%```' AND regexp_like(body, r'\A```(?:json)?\n((?s:.*))```\z'), FALSE) AS is_fence
  FROM scoring_1
),
-- 3. What should be JSON
scoring_3 AS (
  SELECT
    *,
    CASE WHEN is_fence THEN trim(BOTH decode(unhex('20090d0a'), 'UTF-8') FROM regexp_extract(body, r'\A```(?:json)?\n((?s:.*))```\z', 1)) ELSE body END AS held
  FROM scoring_2
),
-- 4. Each string becomes two quotes
scoring_4 AS (
  SELECT
    *,
    regexp_replace(held, r'[ \t\r\n]*+\x22(?:[^\x22\\\x00-\x1f]++|\\(?:[\x22\\/bfnrt]|u[0-9a-fA-F]{4}))*+\x22[ \t\r\n]*+', '""') AS bare
  FROM scoring_3
),
-- 5. Each number, true, false and null becomes 0
scoring_5 AS (
  SELECT
    *,
    regexp_replace(bare, r'[ \t\r\n]*+(?:true|false|null|NaN|-?Infinity|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)[ \t\r\n]*+', '0') AS outline_1
  FROM scoring_4
),
-- 6. Each container of these becomes 0, from the inside: in the end, all JSON is 0
scoring_6 AS (
  SELECT
    *,
    regexp_replace(regexp_replace(regexp_replace(regexp_replace(outline_1, r'[ \t\r\n]*+(?:\[[ \t\r\n]*+(?:(?:\x22\x22|0)(?:,(?:\x22\x22|0))*+)?\]|\{[ \t\r\n]*+(?:\x22\x22:(?:\x22\x22|0)(?:,\x22\x22:(?:\x22\x22|0))*+)?\})[ \t\r\n]*+', '0'), r'[ \t\r\n]*+(?:\[[ \t\r\n]*+(?:(?:\x22\x22|0)(?:,(?:\x22\x22|0))*+)?\]|\{[ \t\r\n]*+(?:\x22\x22:(?:\x22\x22|0)(?:,\x22\x22:(?:\x22\x22|0))*+)?\})[ \t\r\n]*+', '0'), r'[ \t\r\n]*+(?:\[[ \t\r\n]*+(?:(?:\x22\x22|0)(?:,(?:\x22\x22|0))*+)?\]|\{[ \t\r\n]*+(?:\x22\x22:(?:\x22\x22|0)(?:,\x22\x22:(?:\x22\x22|0))*+)?\})[ \t\r\n]*+', '0'), r'[ \t\r\n]*+(?:\[[ \t\r\n]*+(?:(?:\x22\x22|0)(?:,(?:\x22\x22|0))*+)?\]|\{[ \t\r\n]*+(?:\x22\x22:(?:\x22\x22|0)(?:,\x22\x22:(?:\x22\x22|0))*+)?\})[ \t\r\n]*+', '0') AS outline_2
  FROM scoring_5
),
-- 7. What is it?
scoring_7 AS (
  SELECT
    *,
    COALESCE(outline_2 = '0' AND left(held, 1) = '{', FALSE) AS is_object,
    COALESCE(outline_2 IN ('0', '""') AND left(held, 1) <> '{', FALSE) AS is_value,
    COALESCE(outline_2 NOT IN ('0', '""') AND regexp_replace(outline_2, r'[ \t\r\n]*+(?:\[[ \t\r\n]*+(?:(?:\x22\x22|0)(?:,(?:\x22\x22|0))*+)?\]|\{[ \t\r\n]*+(?:\x22\x22:(?:\x22\x22|0)(?:,\x22\x22:(?:\x22\x22|0))*+)?\})[ \t\r\n]*+', '0') = outline_2, FALSE) AS is_broken,
    COALESCE(regexp_like(bare, r'[0-9]{100}|[0-9][eE][-+]?[0-9]{3}'), FALSE) AS is_huge,
    COALESCE(regexp_like(bare, r'NaN|Infinity'), FALSE) AS has_constants,
    collation('') <> 'SYSTEM.BUILTIN.UTF8_BINARY' AS is_collated
  FROM scoring_6
),
-- 8. Its fields
scoring_8 AS (
  SELECT
    *,
    CASE WHEN is_object THEN regexp_extract_all(held, r'\x22(?:[^\x22\\]++|\\.)*+\x22[ \t\r\n]*+:[ \t\r\n]*+(?:\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22)*+[\]}])*+[\]}])*+[\]}]|[^ \t\r\n\x22\[\]{},:]++)', 0) END AS members
  FROM scoring_7
),
-- 9. Their names
scoring_9 AS (
  SELECT
    *,
    transform(members, (m, n) -> split_part(m, '"', 2)) AS names
  FROM scoring_8
),
-- 10. Their values
scoring_10 AS (
  SELECT
    *,
    transform(members, (m, n) -> trim(LEADING decode(unhex('20090d0a3a'), 'UTF-8') FROM substr(m, length(get(names, CAST((n + 1) AS INT) - 1)) + 3))) AS fields
  FROM scoring_9
),
-- 11. The list of checks
scoring_11 AS (
  SELECT
    *,
    get(fields, CAST(array_position(names, 'checks') AS INT) - 1) AS checks
  FROM scoring_10
),
-- 12. The checks
scoring_12 AS (
  SELECT
    *,
    regexp_extract_all(CASE WHEN left(checks, 1) = '[' THEN substr(checks, 2) END, r'\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22)*+[\]}])*+[\]}]|[^ \t\r\n\x22\[\]{},:]++', 0) AS items
  FROM scoring_11
),
-- 13. The fields of each
scoring_13 AS (
  SELECT
    *,
    transform(items, (c, i) -> named_struct(
      'is_object', left(c, 1) = '{',
      'shown', left(c, 60),
      'members', regexp_extract_all(c, r'\x22(?:[^\x22\\]++|\\.)*+\x22[ \t\r\n]*+:[ \t\r\n]*+(?:\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22|[\[{](?:[^\x22\[\]{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22)*+[\]}])*+[\]}])*+[\]}]|[^ \t\r\n\x22\[\]{},:]++)', 0)
    )) AS checks_a
  FROM scoring_12
),
-- 14. Their names
scoring_14 AS (
  SELECT
    *,
    transform(checks_a, (c, i) -> named_struct(
      'is_object', c.is_object,
      'shown', c.shown,
      'members', c.members,
      'names', transform(c.members, (m, n) -> split_part(m, '"', 2))
    )) AS checks_b
  FROM scoring_13
),
-- 15. Their values
scoring_15 AS (
  SELECT
    *,
    transform(checks_b, (c, i) -> named_struct(
      'is_object', c.is_object,
      'shown', c.shown,
      'names', c.names,
      'fields', transform(c.members, (m, n) -> trim(LEADING decode(unhex('20090d0a3a'), 'UTF-8') FROM substr(m, length(get(c.names, CAST((n + 1) AS INT) - 1)) + 3)))
    )) AS checks_1
  FROM scoring_14
),
-- 16. The id and the answer of each check, as written
scoring_16 AS (
  SELECT
    *,
    transform(checks_1, (c, i) -> named_struct(
      'is_object', c.is_object,
      'shown', c.shown,
      'names', c.names,
      'fields', c.fields,
      'id', get(c.fields, CAST(array_position(c.names, 'id') AS INT) - 1),
      'answer', get(c.fields, CAST(array_position(c.names, 'score') AS INT) - 1)
    )) AS checks_2
  FROM scoring_15
),
-- 17. The place of its criterion in the rubric, and the answer as an integer
scoring_17 AS (
  SELECT
    *,
    transform(checks_2, (c, i) -> named_struct(
      'is_object', c.is_object,
      'shown', c.shown,
      'names', c.names,
      'fields', c.fields,
      'id', c.id,
      'answer', c.answer,
      'place', CASE
        WHEN c.id = '"accuracy"' THEN 1
        WHEN c.id = '"length"' THEN 2
        ELSE 0
      END,
      'number', TRY_CAST(regexp_extract(c.answer, r'\A(-?(?:0|[1-9][0-9]{0,17}))(?:\.0+)?\z', 1) AS BIGINT)
    )) AS checks_3
  FROM scoring_16
),
-- 18. Its first error, and what only rubric-lint decides
scoring_18 AS (
  SELECT
    *,
    transform(checks_3, (c, i) -> named_struct(
      'place', c.place,
      'number', c.number,
      'has_escape', regexp_like(array_join(c.names, chr(10)), r'\\'),
      'error', 'check ' || (i + 1) || ': ' || CASE
        WHEN NOT c.is_object THEN 'found ' || left(c.shown, 60) || ', expected an object'
        WHEN size(c.names) > size(array_distinct(c.names)) THEN 'a key occurs twice in one object'
        WHEN array_position(c.names, 'satisfied') > 0 THEN '`satisfied` is not allowed here: the rubric has the shape score_ranges'
        WHEN array_position(c.names, 'level') > 0 THEN '`level` is not allowed here: the rubric has the shape score_ranges'
        WHEN left(get(c.fields, CAST(array_position(c.names, 'reasoning') AS INT) - 1), 1) <> '"' THEN '`reasoning` is ' || left(get(c.fields, CAST(array_position(c.names, 'reasoning') AS INT) - 1), 60) || ', expected a string'
        WHEN size(filter(c.fields, (v, n) -> (get(c.names, CAST((n + 1) AS INT) - 1) = '' OR NOT regexp_like(get(c.names, CAST((n + 1) AS INT) - 1), r'\A(?:(?:id|score|reasoning|satisfied|level)(?:\n|\z))*\z')) AND regexp_like(v, r'\A[-0-9tfNI]'))) > 0 THEN 'a field that nobody asked for'
        WHEN c.id IS NULL THEN 'missing field `id`'
        WHEN left(c.id, 1) <> '"' THEN '`id` is ' || left(c.id, 60) || ', expected a string'
        WHEN c.answer IS NULL THEN 'missing field `score`'
        WHEN c.number IS NULL AND NOT regexp_like(c.answer, r'\A-?[0-9.]+[eE]') THEN '`score` is ' || left(c.answer, 60) || ', expected an integer'
        WHEN c.place = 0 AND NOT regexp_like(c.id, r'\\u(?:00[2-7]|[dD][89a-fA-F])') THEN 'the rubric has no criterion ' || left(c.id, 60)
        WHEN NOT CASE
          WHEN c.place = 1 THEN c.number BETWEEN 0 AND 10
          WHEN c.place = 2 THEN c.number BETWEEN 0 AND 10
        END THEN 'score ' || c.number || get(array(' of "accuracy" is not allowed: the bands cover 0 to 10', ' of "length" is not allowed: the bands cover 0 to 10'), CAST(c.place AS INT) - 1)
      END,
      'doubt', CASE
        WHEN size(filter(c.names, (v, n) -> regexp_like(v, r'(?i)\A[\s\x{85}\p{Z}]*(?:chec[k\x{212a}]s|score)[\s\x{85}\p{Z}]*\z'))) > 1 THEN 'another field that may decide'
        WHEN size(filter(c.fields, (v, n) -> left(v, 1) = '{' OR get(c.names, CAST((n + 1) AS INT) - 1) <> 'checks' AND left(v, 1) = '[' AND NOT regexp_like(v, r'\A\[(?:[^\x22{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22)*+\]\z'))) > 0 THEN 'a field that holds an object'
        WHEN regexp_like(c.answer, r'\A-?[0-9.]+[eE]') THEN 'a number with an exponent'
        WHEN c.place = 0 AND regexp_like(c.id, r'\\u(?:00[2-7]|[dD][89a-fA-F])') THEN 'an id with escaped letters'
      END
    )) AS checks_4
  FROM scoring_17
),
-- 19. The same of the output
scoring_19 AS (
  SELECT
    *,
    transform(checks_4, (c, i) -> c.place) AS places,
    transform(checks_4, (c, i) -> c.number) AS numbers,
    CASE WHEN is_object THEN CASE
      WHEN size(names) > size(array_distinct(names)) THEN 'a key occurs twice in one object'
      WHEN array_position(names, 'satisfied') > 0 THEN '`satisfied` is not allowed here: the rubric has the shape score_ranges'
      WHEN array_position(names, 'score') > 0 THEN '`score` is not allowed here: the rubric has the shape score_ranges'
      WHEN array_position(names, 'level') > 0 THEN '`level` is not allowed here: the rubric has the shape score_ranges'
      WHEN left(get(fields, CAST(array_position(names, 'overall_reasoning') AS INT) - 1), 1) <> '"' THEN '`overall_reasoning` is ' || left(get(fields, CAST(array_position(names, 'overall_reasoning') AS INT) - 1), 60) || ', expected a string'
      WHEN size(filter(fields, (v, n) -> (get(names, CAST((n + 1) AS INT) - 1) = '' OR NOT regexp_like(get(names, CAST((n + 1) AS INT) - 1), r'\A(?:(?:checks|overall_reasoning|satisfied|score|level)(?:\n|\z))*\z')) AND regexp_like(v, r'\A[-0-9tfNI]'))) > 0 THEN 'a field that nobody asked for'
      WHEN checks IS NULL THEN 'missing field `checks`'
      WHEN left(checks, 1) NOT IN ('[', '{') THEN '`checks` is ' || left(checks, 60) || ', expected a list'
    END END AS output_error,
    CASE WHEN is_object THEN CASE
      WHEN size(filter(names, (v, n) -> regexp_like(v, r'(?i)\A[\s\x{85}\p{Z}]*(?:chec[k\x{212a}]s|score)[\s\x{85}\p{Z}]*\z'))) > 1 THEN 'another field that may decide'
      WHEN size(filter(fields, (v, n) -> left(v, 1) = '{' OR get(names, CAST((n + 1) AS INT) - 1) <> 'checks' AND left(v, 1) = '[' AND NOT regexp_like(v, r'\A\[(?:[^\x22{}]++|\x22(?:[^\x22\\]++|\\.)*+\x22)*+\]\z'))) > 0 THEN 'a field that holds an object'
    END END AS output_doubt,
    get(transform(filter(checks_4, (c, i) -> c.error IS NOT NULL), (c, i) -> c.error), CAST(1 AS INT) - 1) AS check_error,
    get(transform(filter(checks_4, (c, i) -> c.doubt IS NOT NULL), (c, i) -> c.doubt), CAST(1 AS INT) - 1) AS check_doubt,
    COALESCE(regexp_like(array_join(names, chr(10)), r'\\'), FALSE) OR COALESCE(size(filter(checks_4, (c, i) -> c.has_escape)) > 0, FALSE) OR is_odd OR is_collated AS is_open
  FROM scoring_18
),
-- 20. What is wrong
scoring_20 AS (
  SELECT
    *,
    CASE
      WHEN held IS NULL THEN 'the output is missing'
      WHEN has_constants AND (is_object OR is_value) THEN 'NaN and Infinity are not JSON'
      WHEN output_error IS NOT NULL THEN output_error
      WHEN is_object AND check_error IS NOT NULL THEN check_error
      WHEN is_object AND size(filter(places, (p, n) -> p > 0 AND array_position(places, p) <> (n + 1))) > 0 THEN '"' || get(array('accuracy', 'length'), CAST(get(filter(places, (p, n) -> p > 0 AND array_position(places, p) <> (n + 1)), CAST(1 AS INT) - 1) AS INT) - 1) || '" is judged twice'
      WHEN is_object AND left(checks, 1) = '[' AND COALESCE(array_position(places, 0), 0) = 0 AND size(filter(array('accuracy', 'length'), (v, n) -> COALESCE(array_position(places, (n + 1)), 0) = 0)) > 0 THEN 'no check for "' || get(filter(array('accuracy', 'length'), (v, n) -> COALESCE(array_position(places, (n + 1)), 0) = 0), CAST(1 AS INT) - 1) || '"'
      WHEN is_value AND NOT is_fence AND NOT is_huge THEN 'found ' || left(held, 60) || ', expected a JSON object'
      WHEN is_broken AND NOT is_fence AND NOT regexp_like(held, r'[\x{85}\x{2028}\x{2029}]|[\x00-\x1f]|[\x60~<>&\x{25c1}\x{ff1c}]|THINK\]|\A(?:assistant)?(?:analysis|commentary)') AND left(held, 1) = '{' THEN 'not JSON'
      WHEN NOT is_object AND NOT (instr(held, decode(unhex('5c75'), 'UTF-8')) > 0 OR instr(held, '"checks"') > 0 AND instr(held, '"id"') > 0 AND instr(held, '"score"') > 0 AND instr(held, '"accuracy"') > 0 AND instr(held, '"length"') > 0) THEN 'the JSON object of a verdict is missing'
    END AS error,
    CASE
      WHEN is_odd THEN 'a column of another type than a string'
      WHEN is_collated THEN 'a default collation, under which different texts may be equal'
      WHEN NOT is_object THEN 'not just one JSON object'
      WHEN is_open THEN 'a key with an escape'
      WHEN is_huge OR has_constants THEN 'a very large number'
      WHEN output_doubt IS NOT NULL THEN output_doubt
      WHEN check_doubt IS NOT NULL THEN check_doubt
    END AS doubt
  FROM scoring_19
),
-- 21. Valid, invalid, or left to rubric-lint
scoring_21 AS (
  SELECT
    *,
    CASE
      WHEN held IS NULL THEN 'invalid'
      WHEN is_open OR error IS NOT NULL AND is_fence AND is_object AND regexp_like(held, r'[\x60<]') THEN 'unread'
      WHEN error IS NOT NULL THEN 'invalid'
      WHEN doubt IS NOT NULL THEN 'unread'
      ELSE 'valid'
    END AS status
  FROM scoring_20
),
-- 22. The answers, in the order of the rubric
scoring_22 AS (
  SELECT
    *,
    CASE WHEN status = 'valid' THEN get(numbers, CAST(array_position(places, 1) AS INT) - 1) END AS answer_1,
    CASE WHEN status = 'valid' THEN get(numbers, CAST(array_position(places, 2) AS INT) - 1) END AS answer_2
  FROM scoring_21
),
-- 23. The points, at least 0
scoring_23 AS (
  SELECT
    *,
    CASE WHEN status = 'valid' THEN CAST(greatest(2 * answer_1 + 1 * answer_2, 0) AS BIGINT) END AS points
  FROM scoring_22
)
SELECT
  `id`,
  'summary' AS rubric,
  '5997e485583fec87' AS rubric_hash,
  points,
  CASE WHEN status = 'valid' THEN CAST(30 AS BIGINT) END AS `full`,
  CAST(points AS DOUBLE) / 30 AS score,
  CASE
    WHEN status <> 'valid' THEN NULL
    WHEN answer_1 <= 6 THEN 'fail'
    WHEN points >= 24 THEN 'pass'
    WHEN points >= 18 THEN 'borderline'
    ELSE 'fail'
  END AS verdict,
  CASE WHEN status = 'valid' THEN filter(array(CASE WHEN answer_1 <= 6 THEN 'accuracy' END), (v, n) -> v IS NOT NULL) END AS gates_missed,
  CASE WHEN status = 'valid' THEN array(named_struct(
    'id', 'accuracy',
    'raw', answer_1,
    'gate_met', NOT (answer_1 <= 6)
  ), named_struct(
    'id', 'length',
    'raw', answer_2,
    'gate_met', TRUE
  )) END AS criteria,
  status,
  CASE status WHEN 'invalid' THEN error WHEN 'unread' THEN COALESCE(doubt, 'a fence that may hold more than the object') END AS error
FROM scoring_23
