// SPDX-License-Identifier: Apache-2.0
/** Where the server is and how to come in, checked once. */
import { CairnError } from "./errors.js";
import type { ClientOptions } from "./options.js";

const DEFAULT_URL = "http://127.0.0.1:7420";

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** The address without a slash at its end. */
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
  // A URL with a password is not shown.
  if (url.username !== "" || url.password !== "")
    throw refuse("must not hold a user or a password");
  if (!/^https?:$/.test(url.protocol)) throw refuse("must begin with http:// or https://");
  if (url.search !== "" || url.hash !== "") throw refuse("must not have a query or a fragment");
  const path = url.pathname.replace(/\/+$/, "");
  if (/\/v1$/.test(path)) throw refuse("must not end in /v1: it is the address of the server");
  return url.origin + path;
}

function checkedKey(key: unknown): string {
  const text = typeof key === "string" ? key.trim() : "";
  // fetch would show a key that no header can hold in its own error.
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return text;
  throw new CairnError(
    "apiKey (CAIRN_API_KEY) must be printable ASCII without blanks, as Cairn made it",
  );
}

/** What gives the key for a request; undefined without one. */
export function keyOf(options: ClientOptions): () => Promise<string | undefined> {
  const key = options.apiKey ?? environment("CAIRN_API_KEY");
  if (key === undefined) return async () => undefined;
  if (typeof key === "function") return async () => checkedKey(await key());
  const checked = checkedKey(key);
  return async () => checked;
}
