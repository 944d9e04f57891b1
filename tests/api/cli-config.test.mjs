// SPDX-License-Identifier: Apache-2.0
// The sources of settings: flags, then the environment, then the configuration.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { newCli } from './lib/cli.mjs';
import { atEnd } from './lib/ending.mjs';

/** Answers every request with an empty list, and keeps what it was asked. */
async function startListener(t) {
  const asked = [];
  const server = createServer((request, answer) => {
    asked.push(request.headers.authorization ?? null);
    answer.setHeader('Content-Type', 'application/json');
    answer.end('{"data":[],"has_more":false,"next_cursor":null}');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  atEnd(t, () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, asked, takeKey: () => asked.splice(0).at(-1) };
}

/** Writes the user's configuration. */
function configure(cli, text, mode = 0o600) {
  const folder = join(cli.home, '.config', 'cairn');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.toml'), text, { mode });
  chmodSync(join(folder, 'config.toml'), mode);
  return join(folder, 'config.toml');
}

test('a flag beats the environment, which beats the profile', async (t) => {
  const [flag, environment, profile] = [
    await startListener(t),
    await startListener(t),
    await startListener(t),
  ];
  const cli = newCli(t);
  configure(cli, `default_profile = "p"\n[profiles.p]\nurl = "${profile.url}"\napi_key = "kp"\n`);
  await cli.ok('thread', 'list');
  assert.equal(profile.takeKey(), 'Bearer kp');
  const outside = cli.with({ env: { CAIRN_URL: environment.url, CAIRN_API_KEY: 'ke' } });
  await outside.ok('thread', 'list');
  assert.equal(environment.takeKey(), 'Bearer ke');
  writeFileSync(join(cli.home, 'key'), 'kf\n');
  await outside.ok('thread', 'list', '--url', flag.url, '--api-key-file', 'key');
  assert.equal(flag.takeKey(), 'Bearer kf');
  await cli.with({ env: { CAIRN_API_KEY_FILE: 'key' } }).ok('thread', 'list');
  assert.equal(profile.takeKey(), 'Bearer kf');
});

test("a profile's key is not shown to another server", async (t) => {
  const [mine, other] = [await startListener(t), await startListener(t)];
  const cli = newCli(t);
  configure(cli, `[profiles.p]\nurl = "${mine.url}"\napi_key = "kp"\n`);
  await cli.ok('thread', 'list', '--profile', 'p', '--url', other.url);
  assert.equal(other.takeKey(), null);
  await cli.ok('thread', 'list', '--profile', 'p', '--url', mine.url);
  assert.equal(mine.takeKey(), 'Bearer kp');
});

test('profiles are chosen by name, and their files are found', async (t) => {
  const server = await startListener(t);
  const cli = newCli(t);
  const file = configure(
    cli,
    `[profiles.one]\nurl = "${server.url}"\napi_key_file = "~/secret"\n` +
      `[profiles."two words"]\nurl = "${server.url}"\napi_key = "k2"\n`,
  );
  writeFileSync(join(cli.home, 'secret'), 'k1');
  await cli.ok('thread', 'list', '--profile', 'one');
  assert.equal(server.takeKey(), 'Bearer k1');
  await cli.with({ env: { CAIRN_PROFILE: 'two words' } }).ok('thread', 'list');
  assert.equal(server.takeKey(), 'Bearer k2');
  await cli.refused(2, /--profile names the profile "on", which is not in .*config\.toml; did you/,
    'thread', 'list', '--profile', 'on');
  await cli.with({ env: { XDG_CONFIG_HOME: '/nowhere', CAIRN_PROFILE: 'one' } }).refused(2,
    /CAIRN_PROFILE names the profile "one", which is not in any file; see/, 'thread', 'list');
  const elsewhere = join(cli.home, 'elsewhere.toml');
  writeFileSync(elsewhere, `default_profile = "x"\n[profiles.x]\nurl = "${server.url}"\n`);
  await cli.ok('thread', 'list', '--config', elsewhere);
  assert.equal(server.takeKey(), null);
  await cli.with({ env: { CAIRN_CONFIG: elsewhere } }).ok('thread', 'list');
  assert.equal(server.asked.splice(0).length, 1);
  chmodSync(file, 0o644);
  const exposed = await cli.ok('thread', 'list', '--profile', 'two words');
  assert.match(exposed.stderr, /^warning: other users can read the API key in .*; chmod 600 /);
});

test('a configuration that is wrong is told with its line', async (t) => {
  const cli = newCli(t);
  const faults = [
    ['[profiles.p]\nurl = 1', /config\.toml:2: url must be a string$/m],
    ['[profiles.p]\nurk = "x"', /config\.toml:2: there is no setting "urk"; did you mean url\?$/m],
    ['x = 1', /config\.toml:1: there is no setting "x"$/m],
    ['default_profil = "x"', /:1: there is no setting "default_profil"; did you mean default_pro/],
    ['default_profile = 1', /:1: default_profile must be a string$/m],
    ['[serve]\nlisen = "x"', /:2: there is no setting "lisen"; did you mean listen\?$/m],
    ['[profiles]\nurl = "x"', /:2: a profile is a table: \[profiles\.NAME\]$/m],
    ['a = ', /config\.toml:1: a value must be a string in quotes/],
    ['[profiles.p]\nurl="x"\nurl="y"', /config\.toml:3: the key exists already, in line 2$/m],
    ['default_profile = "p"', /names the profile "p", which is not in/],
    ['default_profile="p"\n[profiles.p]\nurl = "ftp://x"', /:3: the URL must begin with http:\/\//],
    ['default_profile="p"\n[profiles.p]\napi_key = "a b"', /:3: an API key consists of letters/],
    [
      'default_profile="p"\n[profiles.p]\napi_key="a"\napi_key_file="b"',
      /api_key and api_key_file exclude each other/,
    ],
    ['default_profile="p"\n[profiles.p]\napi_key_file="/nowhere"', /\/nowhere: No such file/],
  ];
  for (const [text, rule] of faults) {
    configure(cli, text);
    await cli.refused(2, rule, 'thread', 'list');
  }
  await cli.refused(2, /cannot be read: \/nowhere: No such file/, 'thread', 'list', '--config',
    '/nowhere');
  configure(cli, '');
  await cli.refused(2, /--url: the URL must have a port/, 'thread', 'list', '--url', 'http://a:x');
  await cli.refused(2, /API key cannot be read: no: /, 'thread', 'list', '--api-key-file', 'no');
  writeFileSync(join(cli.home, 'empty'), '\n');
  await cli.refused(2, /empty: the API key is empty/, 'thread', 'list', '--api-key-file', 'empty');
  await cli.with({ env: { CAIRN_API_KEY: 'a\nb' } }).refused(2,
    /CAIRN_API_KEY: an API key consists of letters, digits and _/, 'thread', 'list');
});

// --- The server's settings -------------------------------------------------------------------

const byName = (rows) => Object.fromEntries(rows.map(([name, ...rest]) => [name, rest]));

test('what is in force is shown, and where it comes from', async (t) => {
  const cli = newCli(t);
  const file = join(cli.home, 'cairn.toml');
  writeFileSync(
    file,
    `[serve]\nlisten = "127.0.0.1:1"\nloops = 3\nreaders = "4"\nallow_host = ["a", "b"]\n` +
      `db = "postgres://user:hush@host/db"\ntls_cert = "c.pem"\ntls_key = "k.pem"\n`,
  );
  const origins = 'https://a, https://b';
  const shown = byName(
    await cli
      .with({ env: { CAIRN_LOOPS: '5', CAIRN_CONFIG: file, CAIRN_ALLOW_ORIGIN: origins } })
      .rows('serve', '--print-config', '--listen', '[::1]:1', '--listen', '[::1]:2'),
  );
  assert.deepEqual(shown.listen, ['[::1]:2', '--listen']);
  assert.deepEqual(shown.loops, ['5', 'CAIRN_LOOPS']);
  assert.deepEqual(shown.readers, ['4', `${file}:4`]);
  assert.deepEqual(shown['allow-host'], ['a,b', `${file}:5`]);
  assert.deepEqual(shown['allow-origin'], ['https://a,https://b', 'CAIRN_ALLOW_ORIGIN']);
  assert.deepEqual(shown.db, ['postgres://user:***@host/db', `${file}:6`]);
  assert.deepEqual(shown['drain-seconds'], ['10', 'default']);
  const json = await cli.json('serve', '--print-config', '--config', file, '--json');
  assert.deepEqual(json.data[0], { setting: 'listen', value: '127.0.0.1:1', from: `${file}:2` });

  const { stdout: help } = await cli.ok('serve', '--help');
  for (const [name] of await cli.rows('serve', '--print-config'))
    assert.match(
      help.replaceAll(/\n {4,}/g, ' '),
      new RegExp(`^ {2}--${name} .*\\[CAIRN_${name.replaceAll('-', '_').toUpperCase()}\\]$`, 'm'),
    );
});

test('no password of a URL is shown, wherever it stands in it', async (t) => {
  const cli = newCli(t);
  for (const [url, expected] of [
    ['postgres://h/?password=hush&sslpassword=hush', 'postgres://h/?password=***&sslpassword=***'],
    ['postgres://h/?passw%6frd=hush&x=1', 'postgres://h/?passw%6frd=***&x=1'],
    ['postgres://u:hu?sh@h/db?password=hush', 'postgres://u:***@h/db?password=***'],
  ]) {
    const { stdout } = await cli.ok('serve', '--print-config', '--db', url, '--db-replica', url);
    const shown = byName(stdout.split('\n').map((line) => line.split('\t')));
    assert.deepEqual([shown.db[0], shown['db-replica'][0]], [expected, expected]);
    assert.doesNotMatch(stdout, /hu\?*sh/);
  }
});

test('of the two stores the one that was named at the higher place is taken', async (t) => {
  const cli = newCli(t);
  const file = join(cli.home, 'cairn.toml');
  writeFileSync(file, '[serve]\ndata = "/var/lib/cairn"\n');
  const url = 'postgres://h/db';
  const show = async (env, ...args) =>
    byName(await cli.with({ env }).rows('serve', '--print-config', ...args));
  const higher = await show({ CAIRN_CONFIG: file, CAIRN_DB: url });
  assert.deepEqual([higher.db, higher.data[1]], [[url, 'CAIRN_DB'], 'default']);
  const flag = await show({ CAIRN_DB: url, CAIRN_DB_REPLICA: url }, '--data', 'x');
  assert.deepEqual([flag.data, flag.db], [['x', '--data'], ['', 'default']]);
  assert.deepEqual(flag['db-replica'], ['', 'default']);
  await cli.refused(2, /--data and --db exclude each other/, 'serve', '--data', 'x', '--db', url);
  await cli.with({ env: { CAIRN_DB: url, CAIRN_DATA: 'x' } }).refused(2,
    /CAIRN_DATA and CAIRN_DB exclude each other/, 'serve');
});

test('a bad setting of the file is refused with its place', async (t) => {
  const cli = newCli(t);
  const file = join(cli.home, 'cairn.toml');
  for (const [text, rule] of [
    ['loops = 0', 'loops must be 1 to 64'],
    ['loops = true', 'loops must be a string or a number'],
    ['listen = ["a"]', 'listen must be a string or a number'],
    ['allow_host = "a"', 'allow_host must be an array of strings'],
    ['log_level = "loud"', 'log_level must be debug, info, warn or error'],
    ['db = "mysql://user:hush@x"', 'db must be a URL that begins with postgres://'],
  ]) {
    writeFileSync(file, `[serve]\n${text}\n`);
    const said = await cli.refused(2, /./, 'serve', '--config', file);
    assert.ok(said.startsWith(`cairn serve: ${file}:2: ${rule}`), said);
    assert.ok(!said.includes('hush'), said);
  }
  await cli.with({ env: { CAIRN_READERS: 'x' } }).refused(2,
    /^cairn serve: CAIRN_READERS must be 1 to 64; see/, 'serve');
});
