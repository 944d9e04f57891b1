// SPDX-License-Identifier: Apache-2.0
// The JSON Schema validator of base against others: RegExp for its patterns, ajv for its keywords,
// both on generated input, and the official test suite where CAIRN_JSON_SCHEMA_SUITE names a
// checkout of it (https://github.com/json-schema-org/JSON-Schema-Test-Suite).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import Ajv from 'ajv/dist/2020.js';
import { BUILD } from './lib/drive.mjs';

/** The answers of tests/lib/schema.c to the questions. */
function judge(questions) {
  const input = questions.map((q) => JSON.stringify(q)).join('\n') + '\n';
  const { stdout, stderr, status } = spawnSync(join(BUILD, 'tests/lib/schema'), [],
    { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(status, 0, stderr);
  const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(answers.length, questions.length);
  return answers;
}

/** The same numbers each time, so that what fails fails again. */
function dice(seed) {
  const next = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return {
    below,
    chance: (p) => next() < p,
    one: (list) => list[below(list.length)],
    times: (max, make) => Array.from({ length: below(max + 1) }, make),
  };
}

// --- Patterns ----------------------------------------------------------------------------------

const ATOMS = ['a', 'b', '1', ' ', 'é', '😀', '.', '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '[ab]',
  '[^a]', '[a-c1]', '[\\d\\-x]', '[^\\w]', '[]', '[^]', '\\x61', '\\u0062', '\\u{1f600}',
  '\\ud83d\\ude00', '\\cJ', '\\t', '\\/', '\\.', '\\0', '\\p{L}', '\\P{Lu}', '[\\p{Nd}_]',
  '\\p{Letter}', '\\p{gc=Po}', '-', ',', '=', '!', ':', '<', '>'];
const ANCHORS = ['^', '$', '\\b', '\\B'];
const QUANTIFIERS = ['', '', '', '*', '+', '?', '*?', '+?', '{2}', '{1,2}', '{0,}', '{2,3}?'];
const SIGNS = [...'ab1^$.*+?()[]{}|\\-,/dwsbBxucpPk=!:<>0é'];
const LETTERS = [...'abAB1_ -,.!\n\té😀éж٣\u2028'];

function somePattern(d, depth) {
  const piece = () => {
    if (d.chance(0.15)) return d.one(ANCHORS);
    const atom = depth > 0 && d.chance(0.3)
      ? `(${d.one(['', '?:', '?<n>'])}${somePattern(d, depth - 1)})` : d.one(ATOMS);
    return atom + d.one(QUANTIFIERS);
  };
  const sequence = () => d.times(4, piece).join('');
  return [sequence(), ...d.times(depth > 0 ? 2 : 0, sequence)].join('|');
}

function regExp(pattern) {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return null;
  }
}

/** RegExp refuses two groups of one name, or allows them by its age; it is the same to a search. */
const nameGroupsOnce = (pattern) => pattern.replaceAll('(?<n>', '(?:');

test('patterns are found where RegExp finds them, and what RegExp refuses is refused', () => {
  const d = dice(6);
  const questions = Array.from({ length: 3000 }, (_, i) => ({
    pattern: i % 3 === 0 ? d.times(8, () => d.one(SIGNS)).join('') : somePattern(d, 2),
    texts: Array.from({ length: 6 }, () => d.times(6, () => d.one(LETTERS)).join('')),
  }));
  let found = 0;
  for (const [i, answer] of judge(questions).entries()) {
    const { pattern, texts } = questions[i];
    const oracle = regExp(nameGroupsOnce(pattern));
    if (answer.refused !== undefined) {
      assert.ok(answer.unsupported || oracle === null, `${pattern}: ${answer.refused}`);
      continue;
    }
    assert.notEqual(oracle, null, `${pattern} is no regular expression`);
    assert.deepEqual(answer.found, texts.map((text) => oracle.test(text)), JSON.stringify(
      { pattern, texts }));
    found += answer.found.filter(Boolean).length;
  }
  assert.ok(found > 1000, 'too few patterns are found for this to say something');
});

// --- Keywords ----------------------------------------------------------------------------------

const NAMES = ['a', 'b', 'ab', 'c', 'a/b'];
const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];

function someValue(d, depth) {
  const kind = d.below(depth > 0 ? 9 : 6);
  if (kind < 2) return d.one([0, 1, 2, -1, 3.5, 6, 10]);
  if (kind < 4) return d.one(['', 'a', 'ab', 'abc', 'é😀', '1']);
  if (kind < 6) return d.one([null, true, false]);
  if (kind === 6) return d.times(4, () => someValue(d, depth - 1));
  return Object.fromEntries(d.times(4, () => [d.one(NAMES), someValue(d, depth - 1)]));
}

/** Each takes dice and a maker of subschemas, and gives keywords that belong together. */
const KEYWORDS = [
  (d) => ({ type: d.one(TYPES) }),
  (d) => ({ type: [...new Set([d.one(TYPES), d.one(TYPES)])] }),
  (d) => ({ enum: [someValue(d, 1), someValue(d, 2)] }),
  (d) => ({ const: someValue(d, 2) }),
  (d) => ({ [d.one(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'])]:
    d.one([0, 1, 2, 3.5]) }),
  (d) => ({ multipleOf: d.one([1, 2, 0.5]) }),
  (d) => ({ [d.one(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties',
    'maxProperties'])]: d.below(4) }),
  (d) => ({ pattern: d.one(['^a', 'b$', '^..$', '\\d']) }),
  () => ({ uniqueItems: true }),
  (d, sub) => ({ items: sub() }),
  (d, sub) => ({ prefixItems: [sub(), sub()] }),
  (d, sub) => ({ prefixItems: [sub()], items: sub() }),
  (d, sub) => ({ contains: sub(), ...d.one([{}, { minContains: 2 }, { minContains: 0 },
    { maxContains: 1 }]) }),
  (d, sub) => ({ properties: { [d.one(NAMES)]: sub(), [d.one(NAMES)]: sub() } }),
  (d, sub) => ({ properties: { a: sub() }, additionalProperties: sub() }),
  (d, sub) => ({ patternProperties: { [d.one(['^a', 'b', '^$'])]: sub() } }),
  (d, sub) => ({ patternProperties: { '^a': sub() }, additionalProperties: sub() }),
  (d) => ({ propertyNames: { [d.one(['minLength', 'maxLength'])]: 1 } }),
  (d) => ({ required: [d.one(NAMES)] }),
  (d) => ({ dependentRequired: { [d.one(NAMES)]: [d.one(NAMES)] } }),
  (d, sub) => ({ dependentSchemas: { [d.one(NAMES)]: sub() } }),
  (d, sub) => ({ [d.one(['allOf', 'anyOf', 'oneOf'])]: [sub(), sub()] }),
  (d, sub) => ({ not: sub() }),
  (d, sub) => ({ if: sub(), then: sub(), else: sub() }),
  (d) => ({ $ref: d.one(['#/$defs/x', '#/$defs/y', '#y']) }),
  (d, sub) => ({ unevaluatedProperties: d.one([false, sub()]) }),
  (d, sub) => ({ unevaluatedItems: d.one([false, sub()]) }),
];

function someSchema(d, depth) {
  if (depth === 0 || d.chance(0.1)) return d.one([true, false, {}, { type: d.one(TYPES) }]);
  const sub = () => someSchema(d, depth - 1);
  return Object.assign({}, ...Array.from({ length: 1 + d.below(3) }, () =>
    d.one(KEYWORDS)(d, sub)));
}

/** Definitions contain no references, so there are no cycles. */
function someDocument(d) {
  const plain = () => JSON.parse(JSON.stringify(someSchema(d, 2), (key, value) =>
    (key === '$ref' ? undefined : value)));
  const schema = someSchema(d, 3);
  const defs = { x: plain(), y: { allOf: [plain()], $anchor: 'y' } };
  return typeof schema === 'boolean' ? schema : { ...schema, $defs: defs };
}

/**
 * Where ajv is wrong: it counts members as evaluated by an `if` that failed, and `contains` next to
 * `prefixItems` accepts an empty array.
 */
const isDisputed = (schema) => {
  const has = (name) => JSON.stringify(schema).includes(`"${name}`);
  return (has('unevaluated') && has('if')) || (has('prefixItems') && has('contains'));
};

test('values are judged as ajv judges them', () => {
  const d = dice(20202012);
  const questions = Array.from({ length: 400 }, () => ({
    schema: someDocument(d), values: Array.from({ length: 12 }, () => someValue(d, 3)) }));
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const count = { true: 0, false: 0 };
  for (const [i, answer] of judge(questions).entries()) {
    const { schema, values } = questions[i];
    assert.equal(answer.refused, undefined, JSON.stringify({ schema, answer }));
    if (isDisputed(schema)) continue;
    const validate = ajv.compile(schema);
    for (const [j, value] of values.entries()) {
      assert.equal(answer.valid[j], validate(value), JSON.stringify({ schema, value }));
      count[answer.valid[j]]++;
    }
  }
  assert.ok(count.true > 500 && count.false > 500, JSON.stringify(count));
});

// --- The official test suite -------------------------------------------------------------------

const SUITE = process.env.CAIRN_JSON_SCHEMA_SUITE ?? '';

/** Why a group of tests, by the start of "file: description", is not for us. */
const NOT_FOR_US = [
  [/^format\.json: .* format$/, 'format is asserted here'],
  [/^refRemote\.json: /, 'other documents are never fetched'],
  [/^ref\.json: remote ref, containing refs itself$/, 'other documents are never fetched'],
  [/^defs\.json: validate definition against metaschema$/, 'other documents are never fetched'],
  [/^dynamicRef\.json: (strict-tree schema|tests for implementation dynamic anchor)/,
    'other documents are never fetched'],
  [/^dynamicRef\.json: \$ref (and|to) \$dynamic/, 'other documents are never fetched'],
  [/^vocabulary\.json: /, 'there is one dialect'],
  [/: nul characters in strings$/, 'Cairn has no text with U+0000'],
  [/^optional\/cross-draft\.json: /, 'other documents are never fetched'],
  [/^optional\/dependencies-compatibility\.json: /, 'keywords of other drafts are refused'],
  [/^optional\/(refOfUnknownKeyword|unknownKeyword)\.json: /, 'unknown keywords are refused'],
  [/^optional\/format-assertion\.json: /, 'there is one dialect'],
  [/^optional\/format\/unknown\.json: /, 'unknown formats are refused'],
  [/^optional\/format\/(idn-hostname|idn-email)\.json: /, 'these formats are annotations'],
  [/^optional\/format\/hostname\.json: .*punycode/, 'what an A-label stands for is not looked at'],
];

function suiteGroups() {
  const root = join(SUITE, 'tests/draft2020-12');
  const files = readdirSync(root, { recursive: true }).filter((f) => f.endsWith('.json')).sort();
  return files.flatMap((file) => JSON.parse(readFileSync(join(root, file), 'utf8')).map(
    ({ description, schema, tests }) => ({ name: `${file}: ${description}`, schema, tests })));
}

test('every test of the official suite passes', { skip: !existsSync(SUITE) }, () => {
  const isOurs = ({ name }) => !NOT_FOR_US.some(([which]) => which.test(name));
  const groups = suiteGroups().filter(isOurs);
  for (const group of groups)
    group.tests = group.tests.filter((t) => !JSON.stringify(t.data).includes('\\u0000'));
  const answers = judge(groups.map(({ schema, tests }) => (
    { schema, values: tests.map((t) => t.data) })));
  for (const [i, { name, tests }] of groups.entries())
    assert.deepEqual(answers[i].valid, tests.map((t) => t.valid), `${name} ${JSON.stringify(
      { ...answers[i], tests: tests.map((t) => t.description) })}`);
  assert.ok(groups.length > 350);
});
