// SPDX-License-Identifier: Apache-2.0
// The command line of cairn, as people and scripts use it.
//
//   const cli = newCli(t, server);                // a home of its own, no CAIRN_* from outside
//   const end = await cli('thread', 'list');      // {code, signal, stdout, stderr}
//   const thread = await cli.json('thread', 'get', id);      // must succeed; the document
//   const rows = await cli.rows('thread', 'list');           // must succeed; cells by line
//   await cli.refused(4, /rule/, 'thread', 'list');          // code, words on stderr, no data
//   cli.with({ env, input })                      // the same with more environment, or with stdin
//   const screen = await cli.terminal({ columns: 80, type: 'y\n' }, 'thread', 'list');
//   const running = cli.start('event', 'tail', '-f');  // .stdout .stderr .lines .kill .ended
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './ending.mjs';
import { BINARY } from './server.mjs';

const TIMEOUT_MS = 180_000;
const SANITIZER = /(Address|Leak|Thread|UndefinedBehavior|Memory)Sanitizer|runtime error:/;

const quote = (word) => `'${word.replaceAll("'", "'\\''")}'`;

/** The environment without the variables of the developer's shell that would affect the tests. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(CAIRN_|XDG_|NO_COLOR$|COLUMNS$|NOTIFY_SOCKET$)/.test(name),
    ),
  );
}

class Running {
  constructor(command, args, { env, input, cwd }) {
    this.stdout = '';
    this.stderr = '';
    this.child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin.on('error', () => {}); // it may end without having read everything
    if (input !== null) this.child.stdin.end(input);
    for (const name of ['stdout', 'stderr'])
      this.child[name].setEncoding('utf8').on('data', (text) => {
        this[name] += text;
      });
    const timer = setTimeout(() => this.child.kill('SIGKILL'), TIMEOUT_MS);
    this.ended = new Promise((done, fail) => {
      this.child.on('error', fail);
      this.child.on('close', (code, signal) => {
        clearTimeout(timer);
        done({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Whole lines so far. */
  get lines() {
    return this.stdout.split('\n').slice(0, -1);
  }

  async kill(signal = 'SIGINT') {
    this.child.kill(signal);
    return this.ended;
  }
}

export function newCli(t, server = null) {
  const home = mkdtempSync(join(tmpdir(), 'cairn-cli-'));
  atEnd(t, () => rmSync(home, { recursive: true, force: true }));
  const env = { ...cleanEnvironment(), HOME: home, TERM: 'xterm' };
  if (server !== null) env.CAIRN_URL = server.url;
  return build(t, { env, home, input: '' });
}

function build(t, options) {
  const start = (...args) => {
    const running = new Running(BINARY, args, { ...options, cwd: options.home });
    atEnd(t, async () => {
      running.child.kill('SIGKILL');
      await running.ended;
    });
    return running;
  };
  const cli = async (...args) => {
    const end = await start(...args).ended;
    assert.doesNotMatch(end.stderr, SANITIZER);
    return end;
  };
  const succeed = async (args) => {
    const end = await cli(...args);
    assert.equal(end.code, 0, `cairn ${args.join(' ')}: ${end.code ?? end.signal} ${end.stderr}`);
    return end;
  };
  return Object.assign(cli, {
    home: options.home,
    start,
    with: ({ env = {}, input = options.input }) =>
      build(t, { ...options, input, env: { ...options.env, ...env } }),
    ok: (...args) => succeed(args),
    json: async (...args) => JSON.parse((await succeed(args)).stdout),
    jsonl: async (...args) =>
      (await succeed(args)).stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)),
    rows: async (...args) =>
      (await succeed(args)).stdout.split('\n').slice(0, -1).map((line) => line.split('\t')),
    refused: async (code, rule, ...args) => {
      const end = await cli(...args);
      assert.equal(end.code, code, `cairn ${args.join(' ')}: ${end.stdout}${end.stderr}`);
      assert.match(end.stderr, rule);
      assert.equal(end.stdout, '', 'a refusal prints no data');
      return end.stderr;
    },
    terminal: async ({ columns = 100, type = '' }, ...args) => {
      const line = `stty cols ${columns} rows 50; exec ${[BINARY, ...args].map(quote).join(' ')}`;
      const running = new Running('script', ['-qefc', line, '/dev/null'], {
        ...options,
        input: null,
        cwd: options.home,
      });
      running.child.stdin.write(type); // its end would be sent as Ctrl-D before the answer is read
      const end = await running.ended;
      return { ...end, screen: end.stdout.replaceAll('\r', '') };
    },
  });
}
