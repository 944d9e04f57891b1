// SPDX-License-Identifier: Apache-2.0
// Bytes in and out, by clients that can be slow, leave midway or lie; and what lies in the store.
//
//   const path = await filePath(client, 'report.pdf');     // of a thread of its own
//   await upload(server, path, bytes, {chunked: true})     // {status, headers, text, body}
//   await download(server, path, {headers})                // the same, and .bytes
//   const up = beginUpload(server, path, {length})         // .write(bytes) .end() .leave() .answer
//   contents(server)                                       // ids of all content that is stored
import http from 'node:http';
import { readdirSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expectStatus } from './server.mjs';

export const sha256 = (bytes) => createHash('sha256').update(bytes);
export const digestOf = (bytes) => `sha-256=:${sha256(bytes).digest('base64')}:`;

export async function filePath(client, name) {
  const { id } = expectStatus(await client.post('/v1/threads', {}), 201);
  return `/v1/threads/${id}/files/${encodeURIComponent(name)}`;
}

/** Bytes that repeat nowhere, the same each time. */
export function pattern(size, seed = 1) {
  const bytes = Buffer.alloc(size);
  for (let i = 0, x = seed; i < size; i++) {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0;
    bytes[i] = x >>> 16;
  }
  return bytes;
}

function take(answer) {
  return new Promise((done) => {
    const parts = [];
    const finish = (isWhole) => {
      const bytes = Buffer.concat(parts);
      const text = bytes.length < 100_000 ? bytes.toString() : '';
      const isJson = /json/.test(answer.headers['content-type'] ?? '');
      done({ status: answer.statusCode, headers: new Headers(answer.headers), bytes, text, isWhole,
        body: isJson && text !== '' ? JSON.parse(text) : null });
    };
    answer.on('data', (part) => parts.push(part));
    answer.on('end', () => finish(true));
    answer.on('error', () => finish(false));
  });
}

/** A request whose body is written by and by. */
export function beginUpload(server, path, { length, secret, headers = {}, method = 'PUT' } = {}) {
  const request = http.request(`${server.url}${path}`, { method, agent: false, headers: {
    ...(length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length }),
    ...(secret === undefined ? {} : { Authorization: `Bearer ${secret}` }), ...headers } });
  let continued = false;
  request.on('continue', () => { continued = true; });
  const answer = new Promise((done, fail) => {
    request.on('response', (it) => done(take(it)));
    request.on('error', fail);
  });
  answer.catch(() => {});
  request.flushHeaders();
  return {
    answer,
    get continued() { return continued; },
    write: (bytes) => new Promise((done) => { request.write(bytes, () => done()); }),
    end: (bytes) => { request.end(bytes); return answer; },
    leave: () => request.destroy(),
  };
}

export function upload(server, path, bytes, { chunked = false, ...options } = {}) {
  const up = beginUpload(server, path, { ...options, length: chunked ? undefined : bytes.length });
  return up.end(bytes);
}

/** `slowly` is called after the head, before anything is read. */
export function download(server, path, { headers = {}, secret, method = 'GET', slowly } = {}) {
  return new Promise((done, fail) => {
    const request = http.request(`${server.url}${path}`, { method, agent: false,
      headers: { ...(secret === undefined ? {} : { Authorization: `Bearer ${secret}` }),
        ...headers } });
    request.on('response', async (answer) => {
      await slowly?.();
      done(take(answer));
    });
    request.on('error', fail);
    request.end();
  });
}

const plain = (id) => id.replaceAll('-', '');

/** The ids of all stored content, referenced or not, except content that is about to be deleted. */
export function contents(server, directory) {
  if (server.db !== null && directory === undefined)
    return server.sql(`SELECT DISTINCT blob_id::text FROM blob_chunks AS c WHERE NOT EXISTS
      (SELECT FROM blob_garbage AS g WHERE g.blob_id = c.blob_id)`).map(([id]) => plain(id));
  try {
    return readdirSync(join(directory ?? server.dataDir, 'blobs'), { recursive: true,
      withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** The ids of the content that rows know. */
export function known(server) {
  const id = server.db !== null ? 'id::text' : 'lower(hex(id))';
  return server.sql(`SELECT ${id} FROM blobs`).map(([it]) => plain(it));
}
