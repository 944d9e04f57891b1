// SPDX-License-Identifier: Apache-2.0
// The end of a test: what began last ends first, so that a server stops before its database does.
// node:test runs its own hooks in the order in which they were made.
const endings = new WeakMap();

/** Calls the function when t ends, before functions that were registered earlier. */
export function atEnd(t, end) {
  if (!endings.has(t)) {
    const stack = [];
    endings.set(t, stack);
    t.after(async () => {
      let failure = null;
      while (stack.length > 0)
        await Promise.resolve().then(stack.pop()).catch((error) => { failure ??= error; });
      if (failure !== null)
        throw failure;
    });
  }
  endings.get(t).push(end);
}
