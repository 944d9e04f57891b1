// SPDX-License-Identifier: Apache-2.0
/** A parser of Server-Sent Events for fetch. */

export interface Message {
  event: string; // default: "message"
  data: string;
  id: string | undefined;
}

/** Consumes text and returns complete messages. */
export class SseParser {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string | undefined;

  *push(text: string): Generator<Message, void> {
    this.#rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.#rest);
      if (end === null) return;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      if (line !== "") this.#take(line);
      else if (this.#data.length > 0) yield this.#finish();
      else this.#event = "";
    }
  }

  #take(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: the heartbeat
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id") this.#id = value;
  }

  #finish(): Message {
    const message = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
    this.#event = "";
    this.#data = [];
    return message;
  }
}
