// SPDX-License-Identifier: Apache-2.0
/**
 * Returns a path with encoded parameters. Empty parameters, `.` and `..` are rejected: URLs resolve
 * them, so the request would reach another resource.
 */
export function path(texts: TemplateStringsArray, ...values: Array<string | number>): string {
  return texts.reduce((whole, text, i) => whole + segment(values[i - 1], texts) + text);
}

function segment(value: string | number | undefined, texts: TemplateStringsArray): string {
  const isText = typeof value === "string" && value !== "" && value !== "." && value !== "..";
  if (isText || Number.isSafeInteger(value)) return encoded(String(value));
  const shown = value === undefined ? "undefined" : JSON.stringify(value);
  throw new TypeError(
    `${shown} is invalid in ${texts.join("{}")}: use an id, a name or a number`,
  );
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    const shown = JSON.stringify(text);
    throw new TypeError(`${shown} is invalid in a URL: it has an unpaired surrogate`);
  }
}

/** The labels of a list are joined with ".". */
function valueText(value: unknown): string {
  if (value instanceof Date) return encoded(value.toISOString());
  return encoded(Array.isArray(value) ? value.join(".") : String(value));
}

/** `{limit: 5, metadata: {a: 1}}` as `?limit=5&metadata.a=1`, without undefined or null values. */
export function queryText(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    name === "metadata" && typeof value === "object" && value !== null
      ? Object.entries(value).map(([key, v]) => [`metadata.${key}`, v])
      : [[name, value]],
  );
  const given = pairs.filter(([, value]) => value !== undefined && value !== null);
  const texts = given.map(([name, value]) => `${encoded(name)}=${valueText(value)}`);
  return texts.length === 0 ? "" : `?${texts.join("&")}`;
}
