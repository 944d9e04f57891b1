// SPDX-License-Identifier: Apache-2.0
// The files that `make install` installs, and that they work: each file and its mode, the unit,
// the settings, the man page, the completions, the library. The Debian packages are made of the
// same files; tools/try_deb tries them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { onSqlite, runCairn } from './lib/server.mjs';

const TREE = fileURLToPath(new URL('../..', import.meta.url));
const BINARY = resolve(process.env.CAIRN_BIN ?? join(TREE, 'build/src/cli/cairn'));
const BUILD = resolve(BINARY, '../../..');
const ONCE = onSqlite('it is the same for both');

const run = (program, args, options = {}) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe', ...options });
const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

const options = ONCE.skip ? {} : Object.fromEntries(
  JSON.parse(run('meson', ['introspect', '--buildoptions', BUILD])).map((o) => [o.name, o.value]));
const isSanitized = options.b_sanitize !== 'none';

let place; // of everything
let prefix; // within it

// The modes must not depend on the umask of the installing user.
const install = () => run('sh', ['-c',
  'umask 077 && exec meson install -C "$0" --no-rebuild --quiet --destdir "$1"', BUILD, place]);

before(() => {
  if (ONCE.skip) return;
  place = mkdtempSync(join(tmpdir(), 'cairn-install-'));
  prefix = join(place, options.prefix);
  install();
});
after(() => place && rmSync(place, { recursive: true, force: true }));

function walk(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? [path, ...walk(path)] : [path];
  });
}

const octal = (path) => (statSync(path).mode & 0o7777).toString(8);

test('every file is in its place, with a mode of its own', ONCE, () => {
  const version = /version: '([^']+)'/.exec(readFileSync(join(TREE, 'meson.build'), 'utf8'))[1];
  const expected = {
    'bin/cairn': '755',
    'etc/cairn/cairn.toml': '640',
    'include/cairn/cairn.h': '644',
    'lib/systemd/system/cairn.service': '644',
    'lib/sysusers.d/cairn.conf': '644',
    [`${options.libdir}/libcairn.a`]: '644',
    [`${options.libdir}/libcairn.so`]: '755',
    [`${options.libdir}/libcairn.so.${version.split('.')[0]}`]: '755',
    [`${options.libdir}/libcairn.so.${version}`]: '755',
    [`${options.libdir}/pkgconfig/cairn.pc`]: '644',
    'share/bash-completion/completions/cairn': '644',
    'share/doc/cairn/LICENSE': '644',
    'share/doc/cairn/NOTICE': '644',
    'share/fish/vendor_completions.d/cairn.fish': '644',
    'share/man/man1/cairn.1': '644',
    'share/zsh/site-functions/_cairn': '644',
  };
  const all = walk(place);
  const files = all.filter((path) => !statSync(path).isDirectory());
  const found = Object.fromEntries(files.map((path) => [relative(prefix, path), octal(path)]));
  assert.deepEqual(found, expected);
  for (const path of all.filter((one) => statSync(one).isDirectory()))
    assert.equal(octal(path), '755', path);
});

test('settings that are there already stay', ONCE, () => {
  const file = join(prefix, options.sysconfdir, 'cairn/cairn.toml');
  const original = readFileSync(file, 'utf8');
  writeFileSync(file, '[serve]\nloops = 2\n');
  install();
  assert.equal(readFileSync(file, 'utf8'), '[serve]\nloops = 2\n');
  assert.equal(octal(file), '640');
  writeFileSync(file, original);
});

test('the installed program runs, and is the one that was built', ONCE, () => {
  assert.equal(run(join(prefix, 'bin/cairn'), ['--version']), run(BINARY, ['--version']));
});

test('the unit starts the installed program with the installed settings', ONCE, () => {
  const unit = readFileSync(join(prefix, 'lib/systemd/system/cairn.service'), 'utf8');
  const [, program, settings] = /^ExecStart=(\S+) serve --config (\S+)$/m.exec(unit);
  assert.ok(statSync(place + program).isFile());
  assert.ok(statSync(place + settings).isFile());
  assert.ok(!unit.includes('@bindir@') && !unit.includes('@sysconfdir@'));
  assert.doesNotMatch(unit, /^Environment/m, 'doctor and --print-config would not see it');
});

test('systemd understands the unit, and finds little to fear in it', ONCE, (t) => {
  if (!has('systemd-analyze')) return t.skip('there is no systemd-analyze');
  const unit = join(place, 'cairn.service');
  const text = readFileSync(join(prefix, 'lib/systemd/system/cairn.service'), 'utf8');
  // It looks for the program too.
  writeFileSync(unit, text.replace(/^ExecStart=/m, `ExecStart=${place}`));
  const verdict = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  assert.equal(verdict.stdout + verdict.stderr, '');
  assert.equal(verdict.status, 0);
  const level = spawnSync('systemd-analyze',
    ['security', '--offline=true', '--no-pager', '--threshold=20', unit], { encoding: 'utf8' });
  assert.match(level.stdout, /Overall exposure level for cairn\.service: \d\.\d OK/);
  assert.equal(level.status, 0, level.stdout);
});

test('the settings file has every setting, and each can be used as it stands there', ONCE,
  async () => {
    const file = join(prefix, options.sysconfdir, 'cairn/cairn.toml');
    const text = readFileSync(file, 'utf8');
    const { stdout } = await runCairn(['serve', '--print-config', '--jsonl', '--config', file]);
    const settings = stdout.trim().split('\n').map((line) => JSON.parse(line));
    assert.ok(settings.length >= 15, stdout);
    const lines = [...text.matchAll(/^(?:# )?([a-z_]+) = (.+)$/gm)];
    assert.deepEqual(lines.map(([, key]) => key.replaceAll('_', '-')).sort(),
      settings.map(({ setting }) => setting).sort());

    // All of them at once, but the store, of which there is one.
    const everything = text.replace(/^data = .*$/m, '').replace(/^# ([a-z_]+ = .+)$/gm, '$1');
    const used = join(place, 'everything.toml');
    writeFileSync(used, everything);
    const end = await runCairn(['serve', '--print-config', '--jsonl', '--config', used]);
    assert.equal(end.code, 0, end.stderr);
    const values = new Map(end.stdout.trim().split('\n').map((line) => JSON.parse(line))
      .map(({ setting, value, from }) => [setting, { value, from }]));
    for (const { setting, value, from } of settings) {
      const shown = values.get(setting);
      if (setting === 'data') {
        assert.equal(value, '/var/lib/cairn');
        continue;
      }
      assert.equal(from, 'default', setting);
      assert.match(shown.from, /everything\.toml:\d+$/, setting);
      if (value !== null && value !== '')
        assert.equal(shown.value, value, `${setting}: the file shows the default`);
    }
  });

test('the man page is set without a warning', ONCE, (t) => {
  if (!has('groff')) return t.skip('there is no groff');
  const page = join(prefix, 'share/man/man1/cairn.1');
  const set = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-K', 'utf8', page],
    { encoding: 'utf8' });
  assert.equal(set.stderr, '');
  const text = set.stdout.replace(/.\u0008|\u001b\[[0-9;]*m/g, '');
  for (const words of ['CAIRN(1)', 'NAME', 'cairn serve', 'cairn doctor', 'EXIT STATUS'])
    assert.ok(text.includes(words), words);
  assert.ok(text.split('\n').length > 100);
});

test('the completions load', ONCE, () => {
  const file = join(prefix, 'share/bash-completion/completions/cairn');
  const script = `source "$0" && complete -p cairn >/dev/null &&
    COMP_WORDS=("$1" doc) COMP_CWORD=1 && _cairn && printf '%s\\n' "\${COMPREPLY[@]}"`;
  const program = join(prefix, 'bin/cairn');
  assert.equal(run('bash', ['--norc', '-c', script, file, program]).trim(), 'doctor');
  if (has('zsh')) run('zsh', ['-n', join(prefix, 'share/zsh/site-functions/_cairn')]);
  if (has('fish')) run('fish', ['-n', join(prefix, 'share/fish/vendor_completions.d/cairn.fish')]);
});

test('a program is built and run with what was installed', ONCE, (t) => {
  if (isSanitized) return t.skip('the library has a sanitizer in it');
  const libraries = join(prefix, options.libdir);
  const env = {
    ...process.env,
    PKG_CONFIG_PATH: join(libraries, 'pkgconfig'),
    PKG_CONFIG_SYSROOT_DIR: place,
    LD_LIBRARY_PATH: libraries,
  };
  const flags = (...args) =>
    run('pkg-config', [...args, 'cairn'], { env }).trim().split(/\s+/).filter(Boolean);
  assert.equal(run('pkg-config', ['--modversion', 'cairn'], { env }).trim(),
    run(BINARY, ['--version']).trim().split(' ')[1]);
  const program = join(place, 'embed');
  run('cc', [join(TREE, 'examples/embed.c'), '-o', program, ...flags('--cflags', '--libs')],
    { env });
  assert.match(run('ldd', [program], { env }), /libcairn\.so\.0 => /);
  const shown = run(program, [], { env, cwd: mkdtempSync(join(place, 'run-')) });
  assert.ok(shown.length > 0);

  // The same with the static library: what it needs in turn is named as private.
  const needs = run('pkg-config', ['--print-requires-private', 'cairn'], { env })
    .trim().split('\n');
  run('cc', [join(TREE, 'examples/embed.c'), '-o', program, ...flags('--cflags'),
    join(libraries, 'libcairn.a'), '-pthread',
    ...run('pkg-config', ['--libs', ...needs]).trim().split(/\s+/)]);
  assert.doesNotMatch(run('ldd', [program], { env }), /libcairn/);
  assert.ok(run(program, [], { env, cwd: mkdtempSync(join(place, 'run-')) }).length > 0);
});
