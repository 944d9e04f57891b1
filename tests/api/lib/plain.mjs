// SPDX-License-Identifier: Apache-2.0
// Requests that fetch would not send, and answers as they were sent.
import http from 'node:http';

/**
 * A request with any Host, and several headers of one name: {status, headers, bytes, text, body}.
 * The bytes are not decoded; body is set if they are JSON without a coding.
 */
export function plain(server, method, path, headers = {}, raw = undefined) {
  return new Promise((done, fail) => {
    const request = http.request(
      { host: '127.0.0.1', port: server.port, method, path, headers, agent: false },
      (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('error', fail);
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString();
          const isJson = /json/.test(answer.headers['content-type'] ?? '')
            && answer.headers['content-encoding'] === undefined;
          done({
            status: answer.statusCode,
            headers: new Headers(answer.headers),
            bytes,
            text,
            body: isJson && text !== '' ? JSON.parse(text) : null,
          });
        });
      },
    );
    request.on('error', fail).end(raw);
  });
}
