// SPDX-License-Identifier: Apache-2.0
// Requests to Cairn, counted. CAIRN_URL and CAIRN_API_KEY select the server.
const URL_OF = process.env.CAIRN_URL ?? 'http://127.0.0.1:7420';
const KEY = process.env.CAIRN_API_KEY;

const calls = []; // what the scenario needs
let preparations = 0;

async function request(method, path, body, headers = {}) {
  const response = await fetch(URL_OF + path, {
    method,
    headers: {
      ...body !== undefined && { 'Content-Type': 'application/json' },
      ...KEY && { Authorization: `Bearer ${KEY}` },
      ...headers,
    },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

/**
 * A call of the scenario. `what` says which part of the application sends it, and what for. A text
 * as body is the content of a file; its headers have the type.
 */
export function call(what, method, path, body, headers) {
  calls.push(`${method} ${path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{id}')}`
    + `  (${what})`);
  return request(method, path, body, headers);
}

/** A call that happens once, before the scenario: definitions, a new conversation. */
export function prepare(method, path, body, headers) {
  preparations++;
  return request(method, path, body, headers);
}

/** Prints the calls and what they made, as JSON. */
export function report(made) {
  console.log(JSON.stringify({ count: calls.length, preparations, calls, ...made }, null, 2));
}
