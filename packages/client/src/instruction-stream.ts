import type { IncomingMessage } from "node:http";
import { type Clock, errorText, Fault, type Log, parseJson } from "@resource-broker/base";
import {
  describeProblems,
  EVENT_SCHEMAS,
  type EventName,
  type Schema,
  validate,
} from "@resource-broker/contract";
import { createParser } from "eventsource-parser";
import type { OpenedStream } from "./attempts.ts";
import type { BrokerEvent } from "./broker-client.ts";
import type { Sleeper } from "./failover.ts";

/** The longest event; the longest instruction is far below. */
const MAX_EVENT_LENGTH = 1024 * 1024;

/** The text between two empty lines of an event stream. */
export interface EventBlock {
  readonly name: string;
  /** Undefined: a keep-alive, perhaps with an ID. */
  readonly data: string | undefined;
  readonly id: string | undefined;
}

/** Parses a stream of server-sent events in pieces of any size. */
export interface EventParser {
  /** The blocks that this piece completes; throws when one is too long. */
  readonly push: (piece: string) => EventBlock[];
}

export function createEventParser(): EventParser {
  const blocks: EventBlock[] = [];
  let hasComment = false;
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_LENGTH,
    // The library reports the ID of each block, and the event after it if there is one.
    onId: (id) => blocks.push(keepAlive(id)),
    onEvent: ({ event: name = "message", data, id }) => {
      if (id !== undefined) blocks.pop();
      blocks.push({ name, data, id });
    },
    onComment: () => {
      hasComment = true;
    },
    onError: ({ type }) => {
      isTooLong ||= type === "max-buffer-size-exceeded";
    },
  });
  return {
    push: (piece) => {
      parser.feed(piece);
      if (isTooLong) throw new Error(`an event of more than ${MAX_EVENT_LENGTH} characters came`);
      if (hasComment && blocks.length === 0) blocks.push(keepAlive(undefined));
      hasComment = false;
      return blocks.splice(0);
    },
  };
}

function keepAlive(id: string | undefined): EventBlock {
  return { name: "message", data: undefined, id };
}

/** The broker sends a heartbeat every 15 s: three are missed. */
const HEARTBEAT_TIMEOUT_MS = 45_000;
/** A stream that lasted this long was stable: the next one is opened without backoff. */
const STABLE_STREAM_MS = 60_000;
const FIRST_WAIT_MS = 1000;
const MAX_BACKOFF_MS = 10_000;

export interface InstructionStreamDeps {
  /** Opens a stream at some address; rejects with a Fault. */
  readonly open: (lastEventId: string | undefined) => Promise<OpenedStream>;
  /** How long until an address may be asked again. */
  readonly dueInMs: () => number;
  readonly pauses: Pick<Sleeper, "sleep">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Event streams, one after the other, each continuing after the last event. For one reader at a time. */
export interface InstructionStream {
  readonly watch: (signal: AbortSignal) => AsyncGenerator<BrokerEvent, void>;
  /** Closes open streams: the next one is opened at once. */
  readonly renew: () => void;
}

/** The last event that the reader has processed, and its ledger. */
interface Cursor {
  readonly ledgerId: string | undefined;
  readonly lastEventId: string | undefined;
}

export function createInstructionStream(deps: InstructionStreamDeps): InstructionStream {
  const { pauses, clock, random, log } = deps;
  const endOpen = new Set<() => void>();
  let cursor: Cursor | undefined;
  let shortStreams = 0;
  /** Number of requested reconnects, including the first connect. */
  let renewals = 1;
  let openedFor = 0;

  /** Many agents lose the same broker at once: they must not all reconnect at once. */
  const waitMs = (): number => {
    if (openedFor !== renewals) return 0;
    return Math.max(deps.dueInMs(), random() * Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** shortStreams));
  };

  async function* watch(signal: AbortSignal): AsyncGenerator<BrokerEvent, void> {
    await pauses.sleep(waitMs(), signal);
    openedFor = renewals;
    let opened = await openUnlessAborted(() => deps.open(cursor?.lastEventId), signal);
    if (opened === undefined) return;
    const { ledgerId } = opened;
    if (cursor !== undefined && cursor.ledgerId !== ledgerId) {
      const wasResumed = cursor.lastEventId !== undefined;
      cursor = { ledgerId, lastEventId: undefined };
      // Event IDs of one ledger mean nothing in another: the stream must start from the beginning.
      if (wasResumed) opened.response.destroy();
      yield { kind: "reset", reset: { reason: "the broker has another ledger than before" } };
      if (wasResumed) opened = await openUnlessAborted(() => deps.open(undefined), signal);
      if (opened === undefined) return;
    }
    cursor ??= { ledgerId, lastEventId: undefined };
    yield* follow(opened.response, signal);
  }

  async function* follow(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<BrokerEvent, void> {
    const startedAt = clock.monotonicMs();
    let isEnding = false;
    const end = (): void => {
      isEnding = true;
      response.destroy();
    };
    endOpen.add(end);
    signal.addEventListener("abort", end);
    if (signal.aborted || openedFor !== renewals) end();
    try {
      yield* events(response);
    } catch (error) {
      if (!isEnding) throw error;
    } finally {
      shortStreams = clock.monotonicMs() - startedAt >= STABLE_STREAM_MS ? 0 : shortStreams + 1;
      endOpen.delete(end);
      signal.removeEventListener("abort", end);
      response.destroy();
    }
  }

  async function* events(response: IncomingMessage): AsyncGenerator<BrokerEvent, void> {
    const parser = createEventParser();
    for await (const piece of pieces(response, clock)) {
      for (const block of parser.push(piece)) {
        const event = eventIn(block, log);
        if (event !== undefined) yield event;
        remember(block, event);
      }
    }
  }

  /** The event counts as processed only now: a reader that stops earlier receives it again. */
  const remember = ({ id }: EventBlock, event: BrokerEvent | undefined): void => {
    if (event?.kind === "reset") cursor = { ledgerId: cursor?.ledgerId, lastEventId: undefined };
    if (id !== undefined) cursor = { ledgerId: cursor?.ledgerId, lastEventId: id };
  };

  return {
    watch,
    renew: () => {
      renewals += 1;
      for (const end of endOpen) end();
    },
  };
}

/** Undefined: aborted. A stream that opens too late is closed. */
async function openUnlessAborted(
  open: () => Promise<OpenedStream>,
  signal: AbortSignal,
): Promise<OpenedStream | undefined> {
  if (signal.aborted) return undefined;
  const opening = open();
  return await new Promise((resolve, reject) => {
    const abort = (): void => {
      opening.then(
        ({ response }) => response.destroy(),
        () => undefined,
      );
      resolve(undefined);
    };
    signal.addEventListener("abort", abort, { once: true });
    const settled = (): void => signal.removeEventListener("abort", abort);
    opening.then(resolve, reject).finally(settled);
  });
}

/** The text of the stream; throws when it breaks or is silent for too long. */
async function* pieces(response: IncomingMessage, clock: Clock): AsyncGenerator<string, void> {
  response.setEncoding("utf8");
  const source = (response as AsyncIterable<string>)[Symbol.asyncIterator]();
  for (;;) {
    // The timer runs only while waiting: a slow reader is no sign of a dead broker.
    const cancel = clock.after(HEARTBEAT_TIMEOUT_MS, () =>
      response.destroy(new Error(`the broker sent nothing for ${HEARTBEAT_TIMEOUT_MS / 1000} s`)),
    );
    const next: IteratorResult<string, unknown> = await source.next().catch(broken).finally(cancel);
    if (next.done === true) return;
    yield next.value;
  }
}

function broken(cause: unknown): never {
  throw new Fault("unreachable", `the stream of events broke: ${errorText(cause)}`, { cause });
}

interface Named {
  readonly name: EventName;
  readonly data: string;
}

/**
 * The event of a block. Undefined: unknown or unreadable. It is skipped; the next resync has what it contained.
 */
function eventIn({ name, data }: EventBlock, log: Log): BrokerEvent | undefined {
  if (data === undefined) return { kind: "heartbeat" };
  switch (name) {
    case "instruction":
    case "reservation": {
      const reservation = read(EVENT_SCHEMAS[name], { name, data }, log);
      return reservation && { kind: name, reservation };
    }
    case "waiting": {
      const waiting = read(EVENT_SCHEMAS.waiting, { name, data }, log);
      return waiting && { kind: name, waiting };
    }
    case "capacity": {
      const capacity = read(EVENT_SCHEMAS.capacity, { name, data }, log);
      return capacity && { kind: name, capacity };
    }
    case "statement": {
      const statement = read(EVENT_SCHEMAS.statement, { name, data }, log);
      return statement && { kind: name, ...statement };
    }
    case "reset": {
      const reset = read(EVENT_SCHEMAS.reset, { name, data }, log);
      return reset && { kind: name, reset };
    }
    default:
      return undefined;
  }
}

function read<T>(schema: Schema<T>, { name, data }: Named, log: Log): T | undefined {
  const validated = validate(schema, parseJson(data));
  if (validated.ok) return validated.value;
  const problem = describeProblems(validated.problems);
  log.warn({ event: name, problem }, "an event that cannot be read is left out");
  return undefined;
}
