// SPDX-License-Identifier: Apache-2.0
/** The version of this package, which works with servers of the same major version. */
export const VERSION = "0.1.0";

/** Returns a negative number if `a` is older. */
export function compareVersions(a: string, b: string): number {
  const parts = (v: string) =>
    v
      .split(/[.-]/)
      .slice(0, 3)
      .map((n) => Number(n) || 0);
  const [x, y] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export const majorOf = (version: string): string => version.split(".")[0] ?? "";
