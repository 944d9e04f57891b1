// SPDX-License-Identifier: Apache-2.0
// One server that is killed again and again, and the actors that work on it meanwhile.
import assert from 'node:assert/strict';
import { atEnd } from '../ending.mjs';
import { eventually, expectStatus, pause, startServer, twoTenants } from '../server.mjs';
import { ACTORS } from './index.mjs';

const WHOLE_EVERY = 50;

/** How long the server may live: mostly not long, at times past a checkpoint of the WAL. */
const lifetime = () => (Math.random() < 0.03 ? 1500 : 5 + Math.random() * 150);

/** Whether a path is one of a route such as /v1/threads/{thread_id}. */
const fits = (route, path) => {
  const [want, have] = [route.split('/'), path.split('/')];
  return want.length === have.length &&
    want.every((part, i) => part.startsWith('{') || part === have[i]);
};

/** A POST that cannot be repeated by its key writes nothing. */
const onlyComputes = (method, { parameters = [] }) =>
  method === 'post' && !parameters.some(({ name }) => name === 'Idempotency-Key');

export class Scene {
  kills = 0;
  leftOver = 0; // connections of before the last kill that may still be used
  ending = false;
  resting = true;
  back = Promise.resolve(); // until the server is
  resent = 0;
  unknown = 0;
  audited = [];
  shared = new Map();
  byResource = new Map();
  byRoute = new Map();

  static async begin(t, server) {
    const scene = new Scene();
    scene.server = server ?? await startServer(t);
    const { operator, alice, bob } = await twoTenants(scene.server);
    scene.clients = { operator, kept: alice, pruned: bob };
    await scene.#readRoutes();
    scene.actors = [];
    for (const Kind of ACTORS)
      for (let number = 0; number < Kind.count; number++) {
        const actor = new Kind(scene);
        await actor.setUp(number);
        scene.actors.push(actor);
      }
    atEnd(t, () => scene.end());
    return scene;
  }

  end() {
    for (const actor of this.actors)
      actor.end();
  }

  async #readRoutes() {
    const { paths } = expectStatus(await this.server.open.get('/openapi.json'), 200);
    for (const [path, item] of Object.entries(paths))
      for (const method of Object.keys(item))
        if (!['get', 'head'].includes(method) && !onlyComputes(method, item[method]))
          this.byRoute.set(`${method.toUpperCase()} ${path}`, 0);
    assert.ok(this.byRoute.size > 20, 'the table is there');
  }

  acknowledge(resource, method, path) {
    this.byResource.set(resource, (this.byResource.get(resource) ?? 0) + 1);
    const name = `${method} ${path.split('?')[0]}`;
    // /v1/runs/claim names itself; a path with an id in it fits one route.
    const route = this.byRoute.has(name) ? name
      : [...this.byRoute.keys()].find((known) => fits(known, name));
    assert.ok(route, `${name} is not in the table`);
    this.byRoute.set(route, this.byRoute.get(route) + 1);
  }

  /** Routes that write and that no actor has used. */
  get untouched() {
    return [...this.byRoute].filter(([, times]) => times === 0).map(([route]) => route);
  }

  get acknowledged() {
    return [...this.byResource.values()].reduce((sum, n) => sum + n, 0);
  }

  /** The server is about to end; or a connection of before the last kill is noticed only now. */
  mayBreak(error) {
    const isReset = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(error.cause?.cause?.code);
    return this.ending || (isReset && this.leftOver-- > 0);
  }

  /** Everybody works until `time` is over, then ends the step that it is in. */
  async #work(time) {
    this.resting = false;
    const working = Promise.all(this.actors.map((actor) => actor.work()));
    working.catch(() => { this.resting = true; });
    await time();
    this.resting = true;
    await working;
  }

  /** Without any crash, until every route was written through or each actor took so many steps. */
  async rehearse(steps) {
    await this.#work(async () => {
      while (!this.resting && this.untouched.length > 0 &&
          this.actors.some((actor) => actor.steps < steps))
        await pause(20);
    });
  }

  /** SIGKILL at a random moment, a new start, and what must be true then. */
  async cycle(number) {
    await this.#work(async () => {
      await pause(lifetime());
      await this.#away(async () => {
        await this.server.kill();
        await this.#startAgain();
      });
    });
    await this.check(number % WHOLE_EVERY === 0);
  }

  /**
   * `harm` does something to the server, which ends by itself of it, or else is killed after the
   * harm has struck and was mended. Returns how the server ended by itself.
   */
  async harmed({ harm, hasStruck, mend, ends }) {
    let end = null;
    await this.#work(async () => {
      await pause(lifetime());
      this.ending = ends;
      harm();
      if (ends)
        end = await this.server.ending();
      else {
        await eventually(() => this.resting || hasStruck(), 'no call was made to fail');
        await pause(100);
        mend();
        await pause(50);
      }
      await this.#away(async () => {
        await this.server.kill();
        mend();
        await this.server.start();
      });
      this.ending = false;
    });
    await this.check(true);
    return end;
  }

  /** While `absence` lasts, actors without a response wait. */
  async #away(absence) {
    let isBack;
    this.back = new Promise((done) => { isBack = done; });
    this.kills++;
    try {
      await absence();
    } finally {
      this.leftOver = 2 * this.actors.length;
      this.resting = true;
      isBack();
    }
  }

  /** One start in eight is itself killed. */
  async #startAgain() {
    while (Math.random() < 0.125) {
      const starting = this.server.start().catch(() => {});
      await pause(Math.random() * 30);
      this.kills++;
      await this.server.kill();
      await starting;
    }
    await pause(10); // what is left of its connections ends
    await this.server.start();
  }

  async check(whole) {
    await Promise.all(this.actors.map((actor) => actor.check(whole)));
  }
}
