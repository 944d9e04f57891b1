// SPDX-License-Identifier: Apache-2.0
// A real cairn process on the engine that CAIRN_TEST_ENGINE names, and clients of tenants on it.
//   CAIRN_BIN            the binary; CAIRN_TEST_ENGINE sqlite (the default) or postgres
//   CAIRN_TEST_POSTGRES  the URL of a database in which schemas may be created
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cairn, type ClientOptions } from "cairn-client";

export const ENGINE = process.env["CAIRN_TEST_ENGINE"] || "sqlite";
const START_MS = 180_000;

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must be set`);
  return value;
}

/** A secret is shown once. */
function shown(secret: string | null): string {
  if (secret === null) throw new Error("the key was made before");
  return secret;
}

export interface Tenant {
  url: string;
  key: string;
}

export class Server {
  #process: ChildProcess | undefined;
  #operator: Cairn | undefined;
  readonly #directory = mkdtempSync(join(tmpdir(), "cairn-langgraph-"));
  readonly #schema = `langgraph_${randomBytes(8).toString("hex")}`;
  #port = 0;

  static async start(): Promise<Server> {
    const server = new Server();
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Can be called again after kill(), with the same data and port. */
  async start(): Promise<void> {
    const store =
      ENGINE === "postgres"
        ? ["--db", need("CAIRN_TEST_POSTGRES"), "--db-schema", this.#schema]
        : ["--data", this.#directory];
    const child = spawn(
      need("CAIRN_BIN"),
      ["serve", "--listen", `127.0.0.1:${this.#port}`, ...store],
      { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, CAIRN_DB: "" } },
    );
    this.#process = child;
    process.once("exit", () => child.kill("SIGKILL")); // even if the tests fail
    this.#port = await this.#readPort(child);
  }

  #readPort(child: ChildProcess): Promise<number> {
    return new Promise((done, fail) => {
      let said = "";
      const timer = setTimeout(() => fail(new Error(`cairn did not start: ${said}`)), START_MS);
      child.once("exit", (code) => fail(new Error(`cairn ended with ${code}: ${said}`)));
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const line = /listens on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(said);
        if (line === null) return;
        clearTimeout(timer);
        done(Number(line[1]));
      });
    });
  }

  /** Sends SIGKILL: data that is not durable is lost. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** Creates a tenant for one test. */
  async newTenant(): Promise<Tenant> {
    if (this.#operator === undefined) {
      delete process.env["CAIRN_API_KEY"]; // there is no key yet
      const open = new Cairn({ baseUrl: this.url });
      const made = await open.keys.create({ name: "operator", scopes: ["operator"] });
      this.#operator = new Cairn({ baseUrl: this.url, apiKey: shown(made.secret) });
    }
    const made = await this.#operator.tenants.create({ name: randomBytes(8).toString("hex") });
    return { url: this.url, key: shown(made.key.secret) };
  }

  /** A client of a new tenant. */
  async newClient(options: ClientOptions = {}): Promise<Cairn> {
    return clientOf(await this.newTenant(), options);
  }

  async close(): Promise<void> {
    await this.kill("SIGTERM");
    rmSync(this.#directory, { recursive: true, force: true });
    if (ENGINE !== "postgres") return;
    const drop = `SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${this.#schema} CASCADE`;
    execFileSync("psql", ["-q", "-c", drop, need("CAIRN_TEST_POSTGRES")]);
  }
}

export const clientOf = ({ url, key }: Tenant, options: ClientOptions = {}): Cairn =>
  new Cairn({ baseUrl: url, apiKey: key, ...options });
