#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Writes src/base/jsonschema/pattern_categories.h: the general category of every code point in
// Node's version of Unicode. Redirect the output into that file.
const CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp " +
  "Cc Cf Cs Co Cn").split(" ");
const tests = CATEGORIES.map((name) => new RegExp(`^\\p{${name}}$`, "u"));

const runs = [];
let last = -1;
for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
  const text = String.fromCodePoint(codePoint);
  const same = last >= 0 && tests[last].test(text);
  const category = same ? last : tests.findIndex((test) => test.test(text));
  if (category !== last) runs.push(codePoint * 32 + category);
  last = category;
}

const lines = [""];
for (const run of runs) {
  const word = `0x${run.toString(16)},`;
  if (lines.at(-1).length + word.length + 5 > 100) lines.push("");
  lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
}
console.log(`/*
 * The general categories of Unicode ${process.versions.unicode}, made by
 * tools/unicode_categories.mjs: where a run of code points of one category begins, times 32, plus
 * the category's place in
 *   ${CATEGORIES.slice(0, 22).join(" ")}
 *   ${CATEGORIES.slice(22).join(" ")}
 */
#ifndef BASE_PATTERN_CATEGORIES_H
#define BASE_PATTERN_CATEGORIES_H

#include <stdint.h>

/* clang-format off */
static const uint32_t category_runs[] = {
    ${lines.join("\n    ")}
};
/* clang-format on */

#endif`);
