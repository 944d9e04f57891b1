// SPDX-License-Identifier: Apache-2.0
// Workers: they claim, keep, finish and release runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../../tests/api/lib/server.mjs';
import { Aborted, Authentication, Cairn, ConnectionFailed, LeaseLost } from 'cairn-client';
import { closedUrl } from './lib/network.mjs';

const until = (signal) =>
  new Promise((_, fail) => {
    if (signal.aborted) fail(new Error('stopped'));
    signal.addEventListener('abort', () => fail(new Error('stopped')));
  });

test('workers', async (t) => {
  const server = await startServer(t);
  const client = new Cairn({ baseUrl: server.url });
  const begin = async (agent, body = {}) => {
    const thread = await client.threads.create({ agent });
    return client.threads.runs.create(thread.id, body);
  };
  /** Starts a worker for this agent, which must have stopped at the end of the test. */
  const working = async (agent, handler, body, options = {}) => {
    const stop = new AbortController();
    const errors = [];
    const work = client.runs.work(
      { agent, signal: stop.signal, onError: (error) => errors.push(error), ...options },
      handler,
    );
    try {
      await body({ stop: () => stop.abort(), errors, work });
    } finally {
      stop.abort();
      await work;
    }
  };

  await t.test('what the handler returns is the output, and its writes are fenced', async () => {
    const run = await begin('adder', { user_input: '2+2' });
    await working(
      'adder',
      async (claimed, context) => {
        assert.equal(claimed.user_input, '2+2');
        await context.client.threads.events.append(claimed.thread_id, {
          kind: 'progress',
          text: 'adding',
          run_id: claimed.id,
        });
        await context.client.runs.update(claimed.id, { state: { phase: 'sum' } });
        return { sum: 4 };
      },
      async ({ errors }) => {
        const done = await client.runs.wait(run.id);
        assert.equal(done.status, 'completed');
        assert.deepEqual(done.final_output, { sum: 4 });
        assert.deepEqual(done.state, { phase: 'sum' });
        assert.deepEqual(errors, []);
      },
    );
  });

  await t.test('what the handler throws is the error', async () => {
    const run = await begin('thrower');
    await working(
      'thrower',
      () => {
        throw new RangeError('too far');
      },
      async ({ errors }) => {
        const done = await client.runs.wait(run.id);
        assert.equal(done.status, 'failed');
        assert.deepEqual(done.error, { type: 'RangeError', message: 'too far' });
        assert.equal(errors[0].message, 'too far');
      },
    );
  });

  await t.test('a run fails once when what becomes of it cannot be stored', async () => {
    const ends = {
      'no JSON': [() => 1n, 'TypeError', /BigInt/],
      'too large': [() => 'x'.repeat(2 ** 21), 'InvalidInput', /cannot be stored.*final_output/],
      'far too large': [() => 'x'.repeat(2 ** 24), 'TooLarge', /cannot be stored.*too_large/],
      'U+0000': [() => 'a\0', 'InvalidInput', /cannot be stored/],
      'an error of odd text': [
        () => {
          throw new Error('\0' + 'x'.repeat(1998) + '😀');
        },
        'Error',
        /^\ufffdx+\ufffd$/,
      ],
    };
    for (const [agent, [handler, type, message]] of Object.entries(ends)) {
      const run = await begin(agent);
      let calls = 0;
      const counted = () => (calls++, handler());
      await working(agent, counted, async () => {
        const done = await client.runs.wait(run.id, { signal: AbortSignal.timeout(180_000) });
        assert.equal(done.status, 'failed', agent);
        assert.equal(done.error.type, type, agent);
        assert.match(done.error.message, message, agent);
      });
      assert.equal(calls, 1, agent);
    }
  });

  await t.test('a handler that could not reach the server fails nothing', async () => {
    const run = await begin('cut off');
    const nowhere = new Cairn({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
    let tries = 0;
    await working('cut off', async () => (++tries === 1 ? nowhere.health() : tries), async () => {
      const done = await client.runs.wait(run.id);
      assert.equal(done.status, 'completed');
      assert.equal(done.final_output, 2);
    });
  });

  await t.test('a handler may ask, and goes on with the answer', async () => {
    const run = await begin('asker');
    await working(
      'asker',
      async (claimed, context) => {
        if (claimed.input === null || claimed.input === undefined) {
          await context.client.runs.update(claimed.id, { status: 'waiting_for_input' });
          return undefined;
        }
        return claimed.input;
      },
      async () => {
        assert.equal((await client.runs.wait(run.id)).status, 'waiting_for_input');
        await client.runs.input(run.id, { input: 'blue' });
        const done = await client.runs.wait(run.id, { until: ['completed'] });
        assert.equal(done.final_output, 'blue');
      },
    );
  });

  await t.test(
    'a lease is kept for longer than it lasts, over a restart of the server',
    async () => {
      const keep = async (lease_ms) => {
        const run = await begin(`slow ${lease_ms}`);
        let calls = 0;
        let isReady;
        const ready = new Promise((done) => (isReady = done));
        let goOn;
        const go = new Promise((done) => (goOn = done));
        await working(
          `slow ${lease_ms}`,
          async () => {
            calls++;
            isReady();
            await go;
            return calls;
          },
          async ({ errors }) => {
            await ready;
            await server.kill();
            await server.start();
            await new Promise((done) => setTimeout(done, lease_ms * 1.2));
            goOn();
            assert.equal((await client.runs.wait(run.id)).final_output, 1);
            assert.deepEqual(errors, []);
          },
          { lease_ms },
        );
      };
      // A machine that stands still for longer than a lease loses it: then the next is longer.
      await keep(5000)
        .catch(() => keep(20_000))
        .catch(() => keep(60_000));
    },
  );

  await t.test('a run that is taken away stops its handler, and nothing of it counts', async () => {
    const run = await begin('lost');
    let seen;
    await working(
      'lost',
      async (claimed, context) => {
        if (seen === undefined) client.runs.cancel(claimed.id);
        await until(context.signal).catch(() => {});
        seen = await context.client.runs
          .update(claimed.id, { state: { late: true } })
          .catch((e) => e);
        return 'late';
      },
      async () => {
        assert.equal((await client.runs.wait(run.id)).status, 'cancelled');
      },
      { lease_ms: 1000 },
    );
    assert.ok(seen instanceof LeaseLost || seen.status === 409, String(seen));
    assert.notEqual((await client.runs.get(run.id)).final_output, 'late');
  });

  await t.test('a worker that ends gives its run back', async () => {
    const run = await begin('leaver');
    await working(
      'leaver',
      async (_, context) => until(context.signal),
      async ({ stop, work }) => {
        await client.runs.wait(run.id, { until: ['running'] });
        stop();
        await work;
        assert.equal((await client.runs.get(run.id)).status, 'queued');
      },
    );
  });

  await t.test('several at once', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => begin('team')));
    let now = 0;
    let most = 0;
    await working(
      'team',
      async () => {
        most = Math.max(most, ++now);
        while (most < 3) await new Promise((done) => setTimeout(done, 5));
        now--;
      },
      async () => {
        for (const run of runs) assert.equal((await client.runs.wait(run.id)).status, 'completed');
      },
      { concurrency: 3 },
    );
    assert.equal(most, 3);
  });

  await t.test('waiting ends with its signal', async () => {
    const run = await begin('nobody');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    await assert.rejects(client.runs.wait(run.id, { signal: stop.signal }), Aborted);
  });

  await t.test('a worker that may not work is told so', async () => {
    await client.keys.create({ name: 'operator', scopes: ['operator'] });
    await assert.rejects(
      client.runs.work({ agent: 'x' }, () => {}),
      Authentication,
    );
    await assert.rejects(
      client.runs.work({ concurrency: 0 }, () => {}),
      TypeError,
    );
    const nowhere = new Cairn({ baseUrl: await closedUrl(), maxRetries: 1 });
    await assert.rejects(
      nowhere.runs.work({ agent: 'x' }, () => {}),
      ConnectionFailed,
    );
  });
});
