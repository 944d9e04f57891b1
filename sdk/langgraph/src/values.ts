// SPDX-License-Identifier: Apache-2.0
/**
 * The encoding of values in Cairn. If the serializer returns JSON, that JSON is stored, so that
 * Cairn stores each message of a list once and people can read it. Bytes, and JSON that Cairn
 * rejects, are stored in an envelope, `{"$serde": type, "base64": …}`. A value that itself
 * resembles an envelope is wrapped in another one, `{"$serde": "json", "value": …}`.
 */
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";

const MARK = "$serde";
/** Cairn accepts JSON of 128 levels, including those of the request around a value. */
const MAX_DEPTH = 120;
/** Matches escapes of U+0000 and of unpaired surrogates (paired ones are not escaped). */
const REFUSED_ESCAPE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

export interface Encoded {
  /** The complete value; or else `added`. */
  json?: unknown;
  /** The elements to append. */
  added?: unknown[];
  /** The text of a list that is stored unchanged; undefined for other values. */
  list?: string;
}

interface Envelope {
  [MARK]: string;
  base64?: string;
  value?: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEnvelope = (json: unknown): json is Envelope => isObject(json) && MARK in json;

function isDeeper(json: unknown, levels: number): boolean {
  if (typeof json !== "object" || json === null) return false;
  return levels === 0 || Object.values(json).some((member) => isDeeper(member, levels - 1));
}

function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000)
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
}

const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

const hasRefusedEscape = (text: string): boolean =>
  text.includes("\\u") && REFUSED_ESCAPE.test(text);

/**
 * Returns the JSON of a text if Cairn stores it without loss. JSON of other serializers may have
 * digits that a JavaScript number cannot represent, or duplicate members.
 */
export function readStorable(text: string): unknown {
  if (hasRefusedEscape(text)) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    return !isDeeper(json, MAX_DEPTH) && JSON.stringify(json) === text ? json : undefined;
  } catch {
    return undefined;
  }
}

function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the elements of `text` after those of `before`; both are texts of lists. */
function readAdded(before: string, text: string): unknown[] | undefined {
  const kept = before.length - 1;
  if (kept < 2 || text.length <= before.length || text[kept] !== ",") return undefined;
  // Much faster than startsWith, which compares character by character.
  if (text.slice(0, kept) !== before.slice(0, kept)) return undefined;
  const added = readStorable(`[${text.slice(kept + 1)}`);
  return Array.isArray(added) ? added : undefined;
}

export class Values {
  readonly #serde: SerializerProtocol;

  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
  }

  /**
   * `before`: the text of the previous list. If the value extends that list, only the added part is
   * returned.
   */
  async encode(value: unknown, before?: string): Promise<Encoded> {
    const [type, bytes] = await this.#serde.dumpsTyped(value);
    const text = type === "json" ? readText(bytes) : undefined;
    if (text === undefined) return envelop(type, bytes);
    const added = before === undefined ? undefined : readAdded(before, text);
    if (added !== undefined) return { added, list: text };
    return encodeText(text) ?? envelop(type, bytes);
  }

  /** Calls `onList` with the text of a value that is a list. */
  async decode(json: unknown, onList?: (text: string) => void): Promise<unknown> {
    if (isEnvelope(json) && json.base64 !== undefined)
      return this.#serde.loadsTyped(json[MARK], fromBase64(json.base64));
    const text = JSON.stringify(isEnvelope(json) ? json.value : json);
    if (Array.isArray(json)) onList?.(text);
    return this.#serde.loadsTyped("json", text);
  }

  async decodeAll(
    values: Record<string, unknown>,
    lists?: Map<string, string>,
  ): Promise<Record<string, unknown>> {
    const decoded = Object.entries(values).map(async ([name, json]): Promise<[string, unknown]> => [
      name,
      await this.decode(json, (text) => lists?.set(name, text)),
    ]);
    return Object.fromEntries(await Promise.all(decoded));
  }
}

function encodeText(text: string): Encoded | undefined {
  const json = readStorable(text);
  if (json === undefined) return undefined;
  if (isEnvelope(json)) return { json: { [MARK]: "json", value: json } };
  return Array.isArray(json) ? { json, list: text } : { json };
}

function envelop(type: string, bytes: Uint8Array): Encoded {
  return { json: { [MARK]: type, base64: toBase64(bytes) } };
}
