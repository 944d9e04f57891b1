// SPDX-License-Identifier: Apache-2.0
// Compares an answer with the part of it that a page of the documentation shows.
import assert from 'node:assert/strict';

/** Each member that is shown has that value; "…" matches any value. */
export function expectShown(actual, shown, where) {
  if (shown === '…') {
    assert.notEqual(actual, undefined, `${where} is missing`);
  } else if (Array.isArray(shown)) {
    assert.equal(actual?.length, shown.length, `${where} has another length`);
    shown.forEach((item, i) => expectShown(actual[i], item, `${where}[${i}]`));
  } else if (shown !== null && typeof shown === 'object') {
    for (const [name, value] of Object.entries(shown))
      expectShown(actual?.[name], value, `${where}.${name}`);
  } else {
    assert.equal(actual, shown, where);
  }
}
