// SPDX-License-Identifier: Apache-2.0
/** Reads what a server answered: is it a Cairn, of a version that fits, and does it refuse? */
import { type CairnError, NotCairn, type Problem, VersionMismatch } from "./errors.js";
import { type Failure, hopeless } from "./failure.js";
import { errorOf, problemOf } from "./problems.js";
import { compareVersions, majorOf, VERSION } from "./version.js";

const FROM_PROXIES = new Set([502, 503, 504]);
const MAY_PASS = new Set([408, 429, 503, 507]);
/** What is refused before it was read to its end, such as a body over the limit, names no version. */
const OWN_PROBLEM = "urn:cairn:error:";

function firstLineOf(text: string): string {
  const line =
    text
      .split("\n")
      .map((l) => l.trim())
      .find((l) => l !== "") ?? "";
  return line === "" ? "an empty body" : JSON.stringify(line.slice(0, 120));
}

/** A text is for people: what breaks off in it does not matter. */
const textOf = (response: Response): Promise<string> => response.text().catch(() => "");

async function notCairn(what: string, url: string, response: Response): Promise<Failure> {
  const { status } = response;
  const place = response.headers.get("Location");
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304)) {
    await response.body?.cancel();
    const to = place === null ? "elsewhere" : `to ${place}`;
    return hopeless(
      new NotCairn(
        `${what}: ${url} redirects ${to}. Give the server's own address as \`baseUrl\`.`,
      ),
    );
  }
  const text = await textOf(response);
  const problem = readProblem(text);
  if (problem?.type?.startsWith(OWN_PROBLEM)) return refused(what, problem, response);
  const line = firstLineOf(text);
  if (FROM_PROXIES.has(status)) {
    const detail = `what stands before the server answered ${status}: ${line}`;
    const error = errorOf(what, { ...problemOf(status, "unavailable", detail), retryable: true });
    return { error, mayPass: true, isUnknown: true, ...retryAfterOf(response) };
  }
  return hopeless(
    new NotCairn(
      `${what}: ${url} answered ${status}, but it is no Cairn; it says ${line}. ` +
        "Is `baseUrl` (CAIRN_URL) right?",
    ),
  );
}

function wrongVersion(what: string, server: string): CairnError {
  const upgrade = compareVersions(server, VERSION) > 0 ? "cairn-client" : "the server";
  return new VersionMismatch(
    `${what}: the server is Cairn ${server}, and this is cairn-client ${VERSION}. ` +
      `Upgrade ${upgrade}.`,
    server,
  );
}

function retryAfterOf(response: Response): { retryAfterMs?: number } {
  const text = response.headers.get("Retry-After");
  return text !== null && /^\d+$/.test(text) ? { retryAfterMs: Number(text) * 1000 } : {};
}

/** A 304 has no body, and a proxy may have cut another one. */
function readProblem(text: string): Problem | undefined {
  try {
    const problem = JSON.parse(text) as Problem;
    const isOne = typeof problem.code === "string" && typeof problem.detail === "string";
    return isOne ? problem : undefined;
  } catch {
    return undefined;
  }
}

function unreadable({ status, headers }: Response): Problem {
  const code = status === 304 ? "not_modified" : "unknown";
  const requestId = headers.get("X-Request-Id") ?? "";
  return problemOf(status, code, `the server answered ${status}`, requestId);
}

async function refusal(what: string, server: string, response: Response): Promise<Failure> {
  const problem = readProblem(await textOf(response)) ?? unreadable(response);
  if (problem.code === "no_route" && compareVersions(server, VERSION) < 0)
    return hopeless(wrongVersion(what, server));
  return refused(what, problem, response);
}

function refused(what: string, problem: Problem, response: Response): Failure {
  const { retryAfterMs } = retryAfterOf(response);
  const told = retryAfterMs === undefined ? {} : { retryAfter: retryAfterMs / 1000 };
  return {
    error: errorOf(what, problem, told),
    mayPass: MAY_PASS.has(response.status),
    isUnknown: problem.code === "outcome_unknown",
    ...retryAfterOf(response),
  };
}

/** Undefined when the answer is one of Cairn, and no refusal. */
export async function failureIn(
  what: string,
  url: string,
  response: Response,
): Promise<Failure | undefined> {
  const server = response.headers.get("Cairn-Version");
  if (server === null) return notCairn(what, url, response);
  if (majorOf(server) !== majorOf(VERSION)) {
    await response.body?.cancel();
    return hopeless(wrongVersion(what, server));
  }
  return response.ok ? undefined : refusal(what, server, response);
}
