// SPDX-License-Identifier: Apache-2.0
// Records the requests of a client.
export interface Sent {
  method: string;
  path: string;
  bytes: number;
}

export function recorder(): { sent: Sent[]; fetch: typeof fetch } {
  const sent: Sent[] = [];
  const recorded: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const body = init?.body;
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : ((body as any)?.length ?? 0);
    sent.push({ method: init?.method ?? "GET", path: url.pathname + url.search, bytes });
    return fetch(input, init);
  };
  return { sent, fetch: recorded };
}
