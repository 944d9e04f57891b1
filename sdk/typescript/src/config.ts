// SPDX-License-Identifier: Apache-2.0
/** The address and the key of the server, validated once. */
import { CairnError } from "./errors.js";
import type { ClientOptions } from "./options.js";

const DEFAULT_URL = "http://127.0.0.1:7420";

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** Returns the address without a trailing slash. */
export function baseUrlOf(options: ClientOptions): string {
  const text = options.baseUrl ?? environment("CAIRN_URL") ?? DEFAULT_URL;
  const refuse = (rule: string) =>
    new CairnError(`baseUrl (CAIRN_URL) ${rule}, such as ${DEFAULT_URL}`);
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refuse("must be a URL");
  }
  // The message must not contain a URL with a password.
  if (url.username !== "" || url.password !== "")
    throw refuse("must not contain a user or a password");
  if (!/^https?:$/.test(url.protocol)) throw refuse("must begin with http:// or https://");
  if (url.search !== "" || url.hash !== "") throw refuse("must not have a query or a fragment");
  const path = url.pathname.replace(/\/+$/, "");
  if (/\/v1$/.test(path)) throw refuse("must be the address of the server, without /v1");
  return url.origin + path;
}

function checkedKey(key: unknown): string {
  const text = typeof key === "string" ? key.trim() : "";
  // fetch's own error for an invalid header would contain the key.
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return text;
  throw new CairnError(
    "apiKey (CAIRN_API_KEY) must be printable ASCII without blanks, as created by Cairn",
  );
}

/** Returns the function that provides the key for a request; undefined without a key. */
export function keyOf(options: ClientOptions): () => Promise<string | undefined> {
  const key = options.apiKey ?? environment("CAIRN_API_KEY");
  if (key === undefined) return async () => undefined;
  if (typeof key === "function") return async () => checkedKey(await key());
  const checked = checkedKey(key);
  return async () => checked;
}
