import { Fault, parseJson } from "@resource-broker/base";
import {
  type Answer as BrokerAnswer,
  type BodySchema,
  createDirectCalls,
  type DirectCalls,
  isFromCurrentBroker,
  type PageCall,
  protocolOf,
  readPages,
  type Reply,
  schemaFor,
  type TypedCall,
} from "@resource-broker/client";
import { describeProblems, readFault, validate } from "@resource-broker/contract";
import { systemClock } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/command.ts";
import { asCommandError, connectionError } from "./failures.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import { type ConnectionOptions, findBroker } from "./find-broker.ts";

export interface Answer<T> extends BrokerAnswer<T> {
  /** The broker's time when it answered: ages counted from it do not depend on the clock here. */
  readonly at: number;
}

/** A broker that answers to somebody's certificate. */
export interface Broker {
  readonly credentials: Pick<Credentials, "folder" | "name" | "isAdmin" | "ca">;
  /** Where it is asked, the first replica first. */
  readonly urls: readonly URL[];
  /** Throws a Fault for what the broker refuses, a CommandError when it cannot be reached. */
  readonly request: <T>(call: TypedCall<T>) => Promise<Answer<T>>;
  /** The same for an answer that may be empty: then its value is undefined. */
  readonly requestOptional: <T>(call: TypedCall<T>) => Promise<Answer<T | undefined>>;
}

/** Items of a list. */
export interface Listed<T> {
  readonly items: readonly T[];
  /** The broker's time at the last answer. */
  readonly at: number;
}

const NO_CONTENT = 204;
const SHOWN_LENGTH = 80;
/** More than the longest page that a broker sends. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Connects to the broker, runs the command, and converts a Fault into a message and an exit status. */
export async function withBroker<Result>(
  options: ConnectionOptions,
  host: Host,
  work: (broker: Broker) => Promise<Result>,
): Promise<Result> {
  const { urls, certs, timeoutMs } = await findBroker(options, host);
  const credentials = await readCredentials(certs);
  const calls = directCalls(credentials, timeoutMs, host);
  const send = (call: TypedCall<unknown>): Promise<Reply> =>
    firstAvailable(urls, async (url) => {
      const reply = await calls.send(call, url).catch((error: unknown) => {
        throw connectionError(error, { url, credentials });
      });
      return checked(reply, call);
    });
  const requestOptional: Broker["requestOptional"] = async (call) => {
    const reply = await send(call);
    const at = Date.parse(reply.headers.date ?? "");
    return {
      value: reply.status === NO_CONTENT ? undefined : bodyOf(call.schema, reply),
      headers: reply.headers,
      at: Number.isNaN(at) ? host.now() : at,
    };
  };
  const request: Broker["request"] = async (call) => {
    const { value, ...rest } = await requestOptional(call);
    if (value === undefined) throw new CommandError("error", `${call.path}: the broker's answer is empty`);
    return { value, ...rest };
  };
  try {
    return await work({ credentials, urls, request, requestOptional });
  } catch (error) {
    throw error instanceof Fault ? asCommandError(error, credentials) : error;
  } finally {
    calls.close();
  }
}

/** Where the thing that the work is about is not there, `describe` says so, with the name that was meant. */
export function orUnknown<T>(
  work: Promise<T>,
  describe: (cause: Fault) => CommandError | Promise<CommandError>,
): Promise<T> {
  return work.catch(async (error: unknown) => {
    throw error instanceof Fault && error.code === "not-found" ? await describe(error) : error;
  });
}

/** More than any broker has. */
const MOST_ITEMS = 1_000_000;

/** Page by page, to the last. */
export async function* pagesOf<R, T>(
  { request }: Pick<Broker, "request">,
  first: PageCall<R, T>,
  maxItems?: number,
): AsyncGenerator<Listed<T>> {
  const limits = { endless, ...(maxItems === undefined ? {} : { maxItems }) };
  for await (const { items, answer } of readPages(request<R>, first, limits)) {
    yield { items, at: answer.at };
  }
}

/** The whole list. */
export async function listAll<R, T>(
  broker: Pick<Broker, "request">,
  first: PageCall<R, T>,
): Promise<Listed<T>> {
  const items: T[] = [];
  let at = 0;
  for await (const page of pagesOf(broker, first, MOST_ITEMS)) {
    items.push(...page.items);
    ({ at } = page);
  }
  return { items, at };
}

function endless(): CommandError {
  return new CommandError("error", "the broker's list does not end; check that --broker names a broker");
}

function directCalls(credentials: Credentials, timeoutMs: number, host: Host): DirectCalls {
  const { cert, key, ca, folder } = credentials;
  try {
    const options = { certificates: { cert, key, ca }, timeoutMs, maxBytes: MAX_BYTES };
    return createDirectCalls(options, systemClock(host.now));
  } catch (cause) {
    throw new CommandError("auth", `${folder} cannot be used: ${String(cause)}`, { cause });
  }
}

/** Calls the replicas one after the other. A standby answers `not-leader`; a dead replica does not answer. */
async function firstAvailable(urls: readonly URL[], call: (url: URL) => Promise<Reply>): Promise<Reply> {
  let last: unknown;
  for (const url of urls) {
    try {
      return await call(url);
    } catch (error) {
      if (!isRetriable(error)) throw error;
      last = error;
    }
  }
  throw last;
}

function isRetriable(error: unknown): boolean {
  if (error instanceof Fault) return error.code === "not-leader";
  return error instanceof CommandError && error.exit === "error";
}

function checked(reply: Reply, call: Pick<TypedCall<unknown>, "needs" | "newerFeature">): Reply {
  const { url, status, headers, text } = reply;
  if (!isFromCurrentBroker(headers)) {
    const shown = JSON.stringify(text.slice(0, SHOWN_LENGTH));
    throw new CommandError(
      "error",
      `${url.text} answers, but not as a broker of this release does (${status} ${shown}); check --broker`,
    );
  }
  if (status >= 200 && status < 300) return reply;
  const fault = readFault({ status, body: text });
  throw tooOld(reply, call, fault) ?? fault;
}

/** What a broker answers that does not have the call, or does not read a part of it. */
const MISSED: ReadonlySet<string> = new Set(["not-found", "method-not-allowed", "invalid", "no-capacity"]);

function tooOld(
  { url, headers }: Reply,
  { needs = 0, newerFeature }: Pick<TypedCall<unknown>, "needs" | "newerFeature">,
  fault: Fault,
): CommandError | undefined {
  const protocol = protocolOf(headers);
  if (protocol >= needs || newerFeature === undefined || !MISSED.has(fault.code)) return undefined;
  return new CommandError(
    "error",
    `${url.text} is too old for ${newerFeature}: it speaks protocol ${protocol}, and ${needs} is needed. Upgrade the broker. It answered: ${fault.message}`,
    { cause: fault },
  );
}

function bodyOf<T>(schema: BodySchema<T>, { url, text }: Reply): T {
  const body = parseJson(text);
  const validated = validate(schemaFor(schema, body), body);
  if (validated.ok) return validated.value;
  throw new CommandError(
    "error",
    `${url.text}: the answer is invalid: ${describeProblems(validated.problems)}`,
  );
}
