// SPDX-License-Identifier: Apache-2.0
/** Checks a response: whether it is from Cairn, of a compatible version, and not an error. */
import { type CairnError, NotCairn, type Problem, VersionMismatch } from "./errors.js";
import { type Failure, hopeless } from "./failure.js";
import { errorOf, problemOf } from "./problems.js";
import { compareVersions, majorOf, VERSION } from "./version.js";

const FROM_PROXIES = new Set([502, 503, 504]);
const MAY_PASS = new Set([408, 429, 503, 507]);
/** Identifies problem documents without a version header, such as for a body over the limit. */
const OWN_PROBLEM = "urn:cairn:error:";

function firstLineOf(text: string): string {
  const line =
    text
      .split("\n")
      .map((l) => l.trim())
      .find((l) => l !== "") ?? "";
  return line === "" ? "an empty body" : JSON.stringify(line.slice(0, 120));
}

/** The text is for people, so it may be incomplete. */
const textOf = (response: Response): Promise<string> => response.text().catch(() => "");

async function notCairn(what: string, url: string, response: Response): Promise<Failure> {
  const { status } = response;
  const place = response.headers.get("Location");
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304)) {
    await response.body?.cancel();
    const to = place === null ? "elsewhere" : `to ${place}`;
    return hopeless(
      new NotCairn(
        `${what}: ${url} redirects ${to}. Use the server's own address as \`baseUrl\`.`,
      ),
    );
  }
  const text = await textOf(response);
  const problem = readProblem(text);
  if (problem?.type?.startsWith(OWN_PROBLEM)) return refused(what, problem, response);
  const line = firstLineOf(text);
  if (FROM_PROXIES.has(status)) {
    const detail = `a proxy in front of the server returned ${status}: ${line}`;
    const error = errorOf(what, { ...problemOf(status, "unavailable", detail), retryable: true });
    return { error, mayPass: true, isUnknown: true, ...retryAfterOf(response) };
  }
  return hopeless(
    new NotCairn(
      `${what}: ${url} returned ${status}, but it is not Cairn; the response is ${line}. ` +
        "Is `baseUrl` (CAIRN_URL) correct?",
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

/** A 304 has no body, and a proxy may have truncated another one. */
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
  return problemOf(status, code, `the server returned ${status}`, requestId);
}

async function refusal(what: string, server: string, response: Response): Promise<Failure> {
  const problem = readProblem(await textOf(response)) ?? unreadable(response);
  if (problem.code === "no_route" && compareVersions(server, VERSION) < 0)
    return hopeless(wrongVersion(what, server));
  return refused(what, problem, response);
}

function refused(what: string, problem: Problem, response: Response): Failure {
  const { retryAfterMs } = retryAfterOf(response);
  const delay = retryAfterMs === undefined ? {} : { retryAfter: retryAfterMs / 1000 };
  return {
    error: errorOf(what, problem, delay),
    mayPass: MAY_PASS.has(response.status),
    isUnknown: problem.code === "outcome_unknown",
    ...retryAfterOf(response),
  };
}

/** Returns undefined if the response is from Cairn and not an error. */
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
