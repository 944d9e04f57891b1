// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { expectStatus, uuid } from '../server.mjs';
import { Actor, chance, pick } from './actor.mjs';

const TEAMS = 3;
const MEMBERS = 4;

/** Makes teams, gives them versions and members, activates and rolls back. */
export class Recruiter extends Actor {
  static resource = 'agents';
  #teams = []; // { agent, versions: version → turns, links: child → role }
  #members = [];

  async setUp() {
    for (let i = 0; i < MEMBERS; i++)
      this.#members.push(await this.#make({ name: uuid() }));
    for (let i = 0; i < TEAMS; i++) {
      const agent = await this.#make({ name: uuid(), kind: 'team' });
      this.#teams.push({ agent, versions: new Map([['1.0.0', 25]]), links: new Map() });
    }
  }

  async #make(body) {
    const agent = expectStatus(await this.post('/v1/agents', body), 201);
    this.audited('agent.created', agent.id);
    return agent;
  }

  async step() {
    const team = pick(this.#teams);
    if (chance(0.3)) await this.#version(team);
    else if (chance(0.4)) await this.#activate(team);
    else await this.#link(team);
  }

  /** A version is there whole; one that is changed has one of the two. */
  async #version({ agent, versions }) {
    const turns = Math.ceil(Math.random() * 100);
    const made = expectStatus(await this.post(`/v1/agents/${agent.id}/versions`,
      { bump: 'patch', execution_config: { max_turns: turns } }), 201);
    versions.set(made.version, turns);
    const path = `/v1/agents/${agent.id}/versions/${made.version}`;
    const answer = await this.change('PATCH', path, { execution_config: { max_turns: 7 } });
    const now = answer === null ? await this.get(path) : expectStatus(answer, 200);
    const found = now.execution_config.max_turns;
    assert.ok([turns, 7].includes(found), 'half a change');
    versions.set(made.version, found);
  }

  async #activate(team) {
    const { id } = team.agent;
    const version = pick([...team.versions.keys()]);
    const active = expectStatus(await this.post(`/v1/agents/${id}/versions/${version}/activate`),
      200);
    assert.equal(active.version, version);
    team.agent = active;
    if (chance(0.5)) return;
    const answer = await this.post(`/v1/agents/${id}/rollback`);
    team.agent = answer.status === 409 ? active : expectStatus(answer, 200);
    assert.ok(team.versions.has(team.agent.version));
  }

  async #link({ agent, links }) {
    const child = pick(this.#members).id;
    const path = `/v1/agents/${agent.id}/links/${child}`;
    const role = uuid();
    const removes = links.has(child) && chance(0.4);
    const answer = removes ? await this.change('DELETE', path)
      : await this.change('PUT', path, { role });
    const { status, body } = await this.find(path);
    if (answer !== null)
      assert.equal(status, removes ? 404 : 200, 'what was answered is so');
    if (status === 404) {
      assert.ok(removes || !links.has(child), 'the link is gone');
      links.delete(child);
      return;
    }
    assert.ok([role, links.get(child)].includes(body.role), 'half a link');
    links.set(child, body.role);
  }

  async check() {
    for (const { agent, versions, links } of this.#teams) {
      const now = await this.get(`/v1/agents/${agent.id}`);
      assert.deepEqual([now.version, now.revision], [agent.version, agent.revision]);
      for (const version of [...versions.keys()].slice(-3)) {
        const found = await this.get(`/v1/agents/${agent.id}/versions/${version}`);
        assert.equal(found.execution_config.max_turns, versions.get(version), version);
      }
      const { data } = await this.get(`/v1/agents/${agent.id}/links`);
      assert.deepEqual(new Map(data.map((l) => [l.child_id, l.role]).sort()),
        new Map([...links].sort()));
    }
  }
}
