// SPDX-License-Identifier: Apache-2.0
/**
 * A path with its parameters encoded. An empty one, `.` and `..` are refused: URLs resolve them, so
 * the request would go to another resource.
 */
export function path(texts: TemplateStringsArray, ...values: Array<string | number>): string {
  return texts.reduce((whole, text, i) => whole + segment(values[i - 1], texts) + text);
}

function segment(value: string | number | undefined, texts: TemplateStringsArray): string {
  const isText = typeof value === "string" && value !== "" && value !== "." && value !== "..";
  if (isText || Number.isSafeInteger(value)) return encoded(String(value));
  const shown = value === undefined ? "undefined" : JSON.stringify(value);
  throw new TypeError(
    `${shown} cannot stand in ${texts.join("{}")}: give an id, a name or a number`,
  );
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    const shown = JSON.stringify(text);
    throw new TypeError(`${shown} cannot stand in a URL: it has half of a surrogate pair`);
  }
}

/** A list of labels is written with a "." between them. */
function valueText(value: unknown): string {
  if (value instanceof Date) return encoded(value.toISOString());
  return encoded(Array.isArray(value) ? value.join(".") : String(value));
}

/** `{limit: 5, metadata: {a: 1}}` as `?limit=5&metadata.a=1`, without what is undefined or null. */
export function queryText(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    name === "metadata" && typeof value === "object" && value !== null
      ? Object.entries(value).map(([key, v]) => [`metadata.${key}`, v])
      : [[name, value]],
  );
  const told = pairs.filter(([, value]) => value !== undefined && value !== null);
  const texts = told.map(([name, value]) => `${encoded(name)}=${valueText(value)}`);
  return texts.length === 0 ? "" : `?${texts.join("&")}`;
}
