// SPDX-License-Identifier: Apache-2.0
// Runs the chat agents of examples/ as processes.
//
//   const chat = await chatAgents(t, server);          // builds both, with their own desk
//   const agent = await chat.agent('python');          // a worker, ready to claim
//   const talk = chat.talk('typescript', 'lunch');     // .say(text) .until(pattern) .end()
//   await chat.approve('python', 'yes', runId)         // returns its output
//   chat.notes() chat.mails()                          // the results of the tools
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { atEnd } from '../../../tests/api/lib/ending.mjs';
import { SDK } from './pages.mjs';

export const EXAMPLE = join(dirname(SDK.replace(/\/$/, '')), 'examples/chat-agent');
export const LANGUAGES = ['typescript', 'python'];
const PATIENCE_MS = 180_000; // only so that a test fails instead of hanging

class Process {
  output = '';
  #child;
  #ended;
  #watchers = new Set();

  constructor(command, args, options) {
    this.#child = spawn(command, args, options);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        this.output += text;
        for (const look of this.#watchers) look();
      });
    this.#child.stdin.on('error', () => {}); // the process may have ended
    this.#ended = new Promise((done) => this.#child.on('close', (code, signal) => {
      done(code ?? signal);
      for (const look of this.#watchers) look(true);
    }));
  }

  say(text) {
    this.#child.stdin.write(`${text}\n`);
  }

  /** Waits for matching output; returns the match. */
  until(pattern) {
    return new Promise((done, fail) => {
      const give = (settle, value) => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        settle(value);
      };
      const look = (over = false) => {
        const found = pattern.exec(this.output);
        if (found) give(done, found);
        else if (over) give(fail, new Error(`it ended without ${pattern}: ${this.output}`));
      };
      const timer = setTimeout(
        () => give(fail, new Error(`no ${pattern} in: ${this.output}`)), PATIENCE_MS);
      this.#watchers.add(look);
      look();
    });
  }

  /** Closes its input and waits for its exit with 0; returns its output. */
  async end() {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE_MS);
    const code = await this.#ended;
    clearTimeout(timer);
    assert.equal(code, 0, this.output);
    return this.output;
  }

  async stop(signal) {
    this.#child.kill(signal);
    return this.#ended;
  }
}

class Chat {
  #t;
  #server;
  #place;

  constructor(t, server, place) {
    this.#t = t;
    this.#server = server;
    this.#place = place;
    this.env = {};
  }

  #start(language, part, args, env) {
    const [command, program] = language === 'python'
      ? ['python3', join(EXAMPLE, 'python', `${part}.py`)]
      : ['node', join(this.#place, 'dist', `${part}.js`)];
    const process_ = new Process(command, [program, ...args], {
      cwd: this.#place,
      stdio: 'pipe',
      env: {
        ...process.env,
        PYTHONPATH: join(SDK, 'python/src'),
        PYTHONDONTWRITEBYTECODE: '1',
        CAIRN_URL: this.#server.url,
        CAIRN_API_KEY: '',
        CHAT_DESK: join(this.#place, 'desk'),
        CHAT_RESEARCH_SECONDS: '0.1',
        OPENAI_BASE_URL: '',
        ...this.env,
        ...env,
      },
    });
    atEnd(this.#t, () => process_.stop('SIGKILL'));
    return process_;
  }

  async agent(language, env = {}) {
    const agent = this.#start(language, 'agent', [], env);
    await agent.until(/works for chat-agent/);
    return agent;
  }

  talk(language, name, user = 'ann') {
    return this.#start(language, 'chat', [name, user]);
  }

  approve(language, ...args) {
    return this.#start(language, 'approve', args).end();
  }

  notes() {
    const notes = join(this.#place, 'desk/notes.txt');
    return existsSync(notes) ? readFileSync(notes, 'utf8').trimEnd().split('\n') : [];
  }

  mails() {
    const outbox = join(this.#place, 'desk/outbox');
    return existsSync(outbox)
      ? readdirSync(outbox).map((name) => JSON.parse(readFileSync(join(outbox, name), 'utf8')))
      : [];
  }
}

export async function chatAgents(t, server) {
  const place = mkdtempSync(join(tmpdir(), 'cairn-chat-'));
  atEnd(t, () => rmSync(place, { recursive: true, force: true }));
  symlinkSync(join(SDK, 'node_modules'), join(place, 'node_modules'));
  const sources = readdirSync(join(EXAMPLE, 'typescript/src'));
  await build({
    entryPoints: sources.map((name) => join(EXAMPLE, 'typescript/src', name)),
    outdir: join(place, 'dist'), format: 'esm', platform: 'node', target: 'node20',
  });
  return new Chat(t, server, place);
}
