// SPDX-License-Identifier: Apache-2.0
// The command line itself: help, the man page, completion, and what a slip of the finger gets.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { newCli } from './lib/cli.mjs';
import { BINARY } from './lib/server.mjs';

const run = promisify(execFile);

/** Every command, from the help: ["serve"], ["thread", "list"] … */
async function everyCommand(cli) {
  const { stdout } = await cli.ok('--help');
  const [, list] = /\ncommands:\n(.*?)\n\n/s.exec(stdout);
  const nouns = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, noun]) => noun);
  const commands = [];
  for (const noun of nouns) {
    const help = await cli.ok(noun, '--help');
    const verbs = /\nverbs:\n(.*?)\n\n/s.exec(help.stdout);
    if (verbs === null) commands.push([noun]);
    else for (const [, verb] of verbs[1].matchAll(/^ {2}(\S+)/gm)) commands.push([noun, verb]);
  }
  return commands;
}

const ISSUED = `serve; thread list; thread get; thread find; thread create; thread ensure;
  thread update; thread delete; thread pause; thread resume; thread cancel; thread context;
  thread notebook; history list; history get; history update; resumption get; resumption put;
  resumption patch; resumption append; tool list; tool await; tool results; run list; run get;
  run start; run update; run input; run pause; run resume; run cancel; run tail; run wait;
  run claim; run heartbeat; run release; run retry; run attempts; run phase; run phases; run tree;
  run llm-calls;
  run tool-calls; run checkpoints; run checkpoint; run recover; turn list; turn get;
  turn create; turn update; event list; event append; event tail; event prune; step list;
  step get; step append; step summary; checkpoint list; checkpoint get; checkpoint latest;
  checkpoint put; checkpoint diff; checkpoint prune; checkpoint replay; checkpoint recover;
  checkpoint writes; checkpoint write; checkpoint deltas; checkpoint delete; checkpoint copy;
  message list; message get; message send; message edit; message delete; message history;
  message search; message debug; file list; file info; file update; file put; file get;
  file versions; file diff; file restore; file copy; file delete; file delete-version;
  upload list; upload get; upload create; upload complete; upload delete; participant list;
  participant get; participant add; participant update; participant remove;
  participant heartbeat; share create; share list; share get; share revoke; share redeem;
  share redemptions; agent list; agent get; agent find; agent create; agent update; agent delete;
  agent config; agent configure; agent update-config; agent config-versions;
  agent config-version; agent versions; agent version; agent create-version;
  agent update-version; agent activate; agent rollback; agent diff; agent links; agent get-link;
  agent link; agent unlink; agent tree; agent run; agent runs; state list; state get; state set;
  state update; state history; state version; state focus; state delete; storage list;
  storage get; storage set; storage delete; store list; store get; store put; store delete;
  store search; store namespaces; store batch; price list; price get; price set; price history;
  price delete; price cost; usage list; usage get; usage add; usage averages; eval list;
  eval get; eval create; eval update; eval delete; notebook list; notebook get; notebook create;
  notebook update; notebook delete; notebook sessions; notebook add; notebook remove;
  key create; key list; key get; key revoke; key whoami; ticket create; tenant create;
  tenant list; tenant get; tenant update; tenant show; tenant set; tenant delete;
  tenant create-key; audit list; audit verify; export thread; export agent; export tenant; import;
  mirror; backup; restore; check; migrate; sql; doctor; api; completion; help`.split(/;\s+/);

test('the help names every command, and every command has help', async (t) => {
  const cli = newCli(t);
  const commands = await everyCommand(cli);
  assert.deepEqual(commands.map((words) => words.join(' ')), ISSUED);
  for (const words of commands) {
    const { stdout, stderr } = await cli.ok(...words, '--help');
    assert.equal(stderr, '');
    assert.ok(stdout.startsWith(`usage: cairn ${words.join(' ')}`), stdout);
    assert.match(stdout, /\n {2}-h, --help +show this help\n$/);
    for (const line of stdout.split('\n')) assert.ok([...line].length <= 80, line);
    assert.equal((await cli.ok('help', ...words)).stdout, stdout);
  }
  const { stdout: noun } = await cli.ok('help', 'export');
  assert.match(noun, /^ {7}cairn export --layout LAYOUT DIR \[OPTION\]…$/m);
  assert.match((await cli.ok('export', '--layout', 'files', '--help')).stdout,
    /^usage: cairn export --layout LAYOUT DIR/);
  assert.equal((await cli.ok('help')).stdout, (await cli.ok('-h')).stdout);
  assert.match((await cli.ok('--version')).stdout, /^cairn \d+\.\d+\.\d+\n$/);
});

test('without a command or a verb the help goes to stderr', async (t) => {
  const cli = newCli(t);
  await cli.refused(2, /^usage: cairn COMMAND/m, ...[]);
  await cli.refused(2, /^usage: cairn thread VERB/m, 'thread');
  await cli.refused(2, /there is no command "nothing at"/, 'help', 'nothing', 'at');
});

test('a slip of the finger gets a suggestion', async (t) => {
  const cli = newCli(t);
  const slips = [
    [['--url', 'x', 'thread', 'list'], 'cairn: options follow the command: cairn COMMAND --url'],
    [['tread', 'list'], 'cairn: there is no command "tread"; did you mean thread? cairn --help'],
    [['threads'], 'cairn: there is no command "threads"; did you mean thread? cairn --help'],
    [['xyzzy'], 'cairn: there is no command "xyzzy"; cairn --help lists them'],
    [['run', 'strat'], 'cairn run: there is no verb "strat"; did you mean start? cairn run --help'],
    [['run', 'xyzzy'], 'cairn run: there is no verb "xyzzy"; cairn run --help lists them'],
    [
      ['run', 'list', '--staus=queued'],
      'cairn run list: --staus is not an option; did you mean --status? see cairn run list --help',
    ],
    [['run', 'list', '--xyzzy'], 'cairn run list: --xyzzy is not an option; see cairn run list'],
    [['run', 'list', '-z'], 'cairn run list: -z is not an option; see cairn run list --help'],
    [['run', 'list', '--status'], 'cairn run list: --status needs a value; see'],
    [['run', 'list', '--json=1'], 'cairn run list: --json takes no value; see'],
    [['run', 'list', '--json', '--jsonl'], '--json and --jsonl exclude each other'],
    [['run', 'list', '--all', '--limit', '3'], '--all and --limit exclude each other'],
    [['run', 'list', '--color', 'red'], '--color must be auto, always or never'],
    [['run', 'start', 'x', '--dispatch', 'x'], '--dispatch must be queue or direct'],
    [['event', 'tail', '-f', '--json'], '--json and --follow exclude each other; use --jsonl'],
    [['run', 'wait', 'x', '--timeout', '0'], '--timeout must be 1 to 31536000 seconds'],
    [['help', 'run', 'strat'], 'there is no command "run strat"; did you mean run start? see'],
    [['help', 'tread'], 'cairn help: there is no command "tread"; did you mean thread? see cairn'],
    [['help', 'tread', 'list'], 'there is no command "tread list"; did you mean thread? see cairn'],
    [['help', 'backup', 'now'], 'there is no command "backup now"; did you mean backup? see cairn'],
    [['help', 'run', 'xyzzy'], 'cairn help: there is no command "run xyzzy"; see cairn help'],
    [['completion', 'tcsh'], 'SHELL must be bash, zsh or fish'],
  ];
  for (const [args, words] of slips) {
    const { code, stdout, stderr } = await cli(...args);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.equal(stdout, '');
    assert.ok(stderr.includes(words), `${stderr} has not: ${words}`);
    assert.equal(stderr.split('\n').length, 2, 'one line');
  }
});

test('the man page has every command and every option, and roff takes it', async (t) => {
  const cli = newCli(t);
  const { stdout: page } = await cli.ok('help', '--man');
  const plain = page.replaceAll('\\-', '-');
  for (const words of await everyCommand(cli)) {
    assert.ok(plain.includes(`\n.SS cairn ${words.join(' ')}`), words.join(' '));
    const { stdout } = await cli.ok(...words, '--help');
    for (const [, option] of stdout.matchAll(/^ {2}(?:-., )?(--[a-z-]+)/gm))
      assert.match(plain, new RegExp(`^\\.B (-., )?${option}`, 'm'));
  }
  const file = join(cli.home, 'cairn.1');
  writeFileSync(file, page);
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  const roff = await run('man', ['--warnings', '-l', file], { env }).catch((error) => error);
  if (roff.code !== 'ENOENT') {
    assert.equal(roff.stderr, '');
    assert.match(roff.stdout, /durable runtime state/);
  }
});

/** The completions that bash offers after `line`, from the script itself. */
async function complete(cli, line) {
  const words = line.split(/ |(?<==)|(?==)/); // at = too, which is in COMP_WORDBREAKS
  const script = `PATH="$1:$PATH"; source <(cairn completion bash)
    COMP_WORDS=("\${@:2}"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _cairn
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', script, 'bash', join(BINARY, '..'), ...words]);
  return stdout.split('\n').filter(Boolean);
}

test('bash completes commands, verbs, options and values', async (t) => {
  const cli = newCli(t);
  const nouns = [...new Set(ISSUED.map((words) => words.split(' ')[0]))];
  assert.deepEqual(await complete(cli, 'cairn '), nouns);
  assert.deepEqual(await complete(cli, 'cairn t'), ['thread', 'tool', 'turn', 'ticket', 'tenant']);
  assert.deepEqual(await complete(cli, 'cairn thread '),
    ['list', 'get', 'find', 'create', 'ensure', 'update', 'delete', 'pause', 'resume', 'cancel',
      'context', 'notebook']);
  assert.deepEqual(await complete(cli, 'cairn run res'), ['resume']);
  assert.deepEqual(await complete(cli, 'cairn run list --st'), ['--status']);
  assert.deepEqual(await complete(cli, 'cairn run list --status wa'), ['waiting_for_input']);
  assert.deepEqual(await complete(cli, 'cairn run list x --color '), ['auto', 'always', 'never']);
  assert.deepEqual(await complete(cli, 'cairn thread delete x -'), [
    ...['--if-match', '--yes', '--dry-run', '--json', '--jsonl', '--color', '--url'],
    ...['--api-key-file', '--as', '--profile', '--ca-file', '--config', '--help'],
  ]);
  assert.deepEqual(await complete(cli, 'cairn completion '), ['bash', 'zsh', 'fish']);
  assert.deepEqual(await complete(cli, 'cairn completion bash '), []);
  assert.deepEqual(await complete(cli, 'cairn help thr'), ['thread']);
  assert.deepEqual(await complete(cli, 'cairn help run st'), ['start']);
  assert.deepEqual(await complete(cli, 'cairn help --m'), ['--man']);
  assert.deepEqual(await complete(cli, 'cairn --ver'), ['--version']);
  assert.deepEqual(await complete(cli, 'cairn -'), ['--help', '--version']);
  assert.deepEqual(await complete(cli, 'cairn thread --he'), ['--help']);
  assert.deepEqual(await complete(cli, 'cairn nothing --he'), []);
  assert.deepEqual(await complete(cli, 'cairn run list --color=al'), ['always']);
  assert.deepEqual(await complete(cli, 'cairn run list --color='), ['auto', 'always', 'never']);
  assert.deepEqual(await complete(cli, 'cairn api GET '), []);
  assert.deepEqual(await complete(cli, 'cairn run list --url '), []);
  assert.deepEqual(await complete(cli, 'cairn nothing '), []);
});

test('the other shells ask the same question', async (t) => {
  const cli = newCli(t);
  for (const shell of ['zsh', 'fish']) {
    const { stdout: script } = await cli.ok('completion', shell);
    assert.ok(script.includes('completion words -- '), script);
    const file = join(cli.home, `script.${shell}`);
    writeFileSync(file, script);
    const checked = await run(shell, ['-n', file]).catch((error) => error);
    if (checked.code !== 'ENOENT') assert.equal(checked.code ?? 0, 0, checked.stderr);
  }
  const rows = await cli.rows('completion', 'words', '--', 'run', 'list', '--sta');
  assert.deepEqual(rows, [['--status', 'only with this status']]);
  const [[joined]] = await cli.rows('completion', 'words', '--', 'run', 'list', '--color=al');
  assert.equal(joined, '--color=always', 'the other shells keep the word whole');
});

test('options may stand anywhere, and -- ends them', async (t) => {
  const cli = newCli(t);
  await cli.refused(1, /cannot connect to 127\.0\.0\.1:1: Connection refused/, 'thread', 'get',
    '--url=http://127.0.0.1:1', 'x', '--json');
  await cli.refused(1, /cannot connect/, 'thread', 'get', '--url', 'http://127.0.0.1:1', '--',
    '--json');
});
