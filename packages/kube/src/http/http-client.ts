import type { IncomingHttpHeaders } from "node:http";
import { type Clock, Fault, type Log } from "@resource-broker/base";
import type { ReportReload } from "@resource-broker/runtime";
import type { CredentialSource, Credentials } from "../auth/credentials.ts";
import { wait } from "../backoff/backoff.ts";
import type { KubeConfig } from "../config/kube-config.ts";
import { connectionFault } from "./connection-fault.ts";
import { connections, dropIdle, type Use } from "./connections.ts";
import {
  abortReason,
  type Exchange,
  endpointOf,
  exchange,
  type HttpRequest,
  StaleConnection,
} from "./exchange.ts";
import { burstsOf, bytesOf, discard, takeChunks } from "./read-reply.ts";

export interface HttpReply {
  readonly status: number;
  /** Content-Type. */
  readonly type: string;
  readonly retryAfterMs?: number;
}

export interface WholeReply extends HttpReply {
  readonly body: Buffer;
}

/** A reply that is read as it comes, in one of two ways. */
export interface StreamReply extends HttpReply {
  /** All received chunks per iteration; reading pauses in between. */
  readonly bursts: () => AsyncGenerator<readonly Buffer[]>;
  /** Each chunk at once, which is cheaper; resolves when all have come. */
  readonly take: (take: (chunk: Buffer) => void) => Promise<void>;
}

export interface HttpClient {
  /** A reply of any status. `limit` bounds its body. */
  readonly call: (request: HttpRequest, limit?: number) => Promise<WholeReply>;
  /** A reply that is read as it comes, where the status is 200; any other is whole. */
  readonly stream: (request: HttpRequest) => Promise<StreamReply | WholeReply>;
  /** The same for a reply that has an end: it must all have come in the call's time. */
  readonly pieces: (request: HttpRequest) => Promise<StreamReply | WholeReply>;
  readonly close: () => void;
}

export interface HttpDeps {
  readonly credentials: CredentialSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent: string;
  /** Told of new certificates that cannot be used, and of the next that can. */
  readonly report?: ReportReload;
  /** Told the server's time, as each answer states it. */
  readonly onDate?: (serverTimeMs: number) => void;
}

/** An object has at most 1.5 MB in etcd; discovery and metrics documents are larger. */
const MAX_BODY = 16 * 1024 * 1024;
const MAX_PAUSES = 2;
/** Longer Retry-After values are left to the caller. */
const LONGEST_PAUSE_MS = 5_000;

export function httpClient(
  config: KubeConfig,
  { credentials, clock, log, userAgent, report, onDate }: HttpDeps,
): HttpClient {
  const { server, origin, trust } = config;
  const endpoint = endpointOf(server);
  const open = connections({ endpoint, trust, origin, log, ...(report && { report }) });

  const sendOnce = async (request: HttpRequest, shown: Credentials, use: Use): Promise<Exchange> => {
    const { authorization } = shown;
    const reply = await exchange(request, {
      endpoint,
      agent: open.agentFor(shown, use),
      clock,
      isStream: use === "stream",
      headers: { "user-agent": userAgent, ...(authorization === undefined ? {} : { authorization }) },
    });
    const serverTimeMs = Date.parse(reply.response.headers.date ?? "");
    if (!Number.isNaN(serverTimeMs)) onDate?.(serverTimeMs);
    return reply;
  };

  const send = async (request: HttpRequest, shown: Credentials, use: Use): Promise<Exchange> => {
    try {
      return await sendOnce(request, shown, use);
    } catch (error) {
      if (!(error instanceof StaleConnection) || !request.isRepeatable) throw error;
      dropIdle(open.agentFor(shown, use));
      return sendOnce(request, shown, use);
    }
  };

  const begin = async (request: HttpRequest, use: Use): Promise<Exchange> => {
    let shown = await credentials.current();
    let pauses = 0;
    let isRenewed = false;
    for (;;) {
      const reply = await send(request, shown, use);
      const newer = isRefused(reply) && !isRenewed ? await credentials.renew(shown) : undefined;
      const pauseMs = pauseOf(reply, request);
      if (newer !== undefined) {
        isRenewed = true;
        shown = newer;
      } else if (pauseMs !== undefined && pauses < MAX_PAUSES) {
        pauses++;
        await pause(pauseMs, request.signal);
      } else return reply;
      discard(reply);
    }
  };

  const pause = async (pauseMs: number, signal: AbortSignal | undefined): Promise<void> => {
    await wait(pauseMs, { clock, signal });
    if (signal?.aborted === true) throw abortReason(signal);
  };

  const whole = async (reply: Exchange, limit: number): Promise<WholeReply> => ({
    ...headOf(reply),
    body: await bytesOf(reply, limit),
  });

  const inPieces = async (request: HttpRequest, use: Use): Promise<StreamReply | WholeReply> => {
    const reply = await begin(request, use);
    if (reply.response.statusCode !== 200) return whole(reply, MAX_BODY);
    return {
      ...headOf(reply),
      bursts: () => explainedBursts(reply, { server, origin }),
      take: (take) => takeChunks(reply, take, (error) => connectionFault(error, { server, origin })),
    };
  };

  /** Adds the server to errors; an abort by the caller throws the caller's reason. */
  const explained = async <T>({ signal }: HttpRequest, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted === true) throw abortReason(signal);
      throw connectionFault(error, { server, origin });
    }
  };

  return {
    call: (request, limit = MAX_BODY) =>
      explained(request, async () => whole(await begin(request, "call"), limit)),
    stream: (request) => explained(request, () => inPieces(request, "stream")),
    pieces: (request) => explained(request, () => inPieces(request, "call")),
    close: open.close,
  };
}

async function* explainedBursts(
  reply: Exchange,
  from: { server: string; origin: string },
): AsyncGenerator<readonly Buffer[]> {
  try {
    yield* burstsOf(reply);
  } catch (error) {
    throw connectionFault(error, from);
  }
}

function isRefused({ response }: Exchange): boolean {
  return response.statusCode === 401;
}

/** The Retry-After of the reply, when it is short and the request may be repeated. */
function pauseOf({ response }: Exchange, { isRepeatable }: HttpRequest): number | undefined {
  const { statusCode, headers } = response;
  // 429 is sent before processing; 503 may be sent after it.
  const mayRepeat = statusCode === 429 || (statusCode === 503 && isRepeatable);
  const pauseMs = mayRepeat ? retryAfterOf(headers) : undefined;
  return pauseMs !== undefined && pauseMs <= LONGEST_PAUSE_MS ? pauseMs : undefined;
}

function headOf({ response }: Exchange): HttpReply {
  const { statusCode = 0, headers } = response;
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") {
    response.destroy();
    throw new Fault(
      "malformed",
      `the reply is encoded as ${encoding}, which was not asked for: is there a proxy?`,
    );
  }
  const retryAfterMs = retryAfterOf(headers);
  return {
    status: statusCode,
    type: headers["content-type"] ?? "",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Kubernetes says it in seconds. */
function retryAfterOf({ "retry-after": stated }: IncomingHttpHeaders): number | undefined {
  return stated !== undefined && /^\d{1,6}$/u.test(stated) ? Number(stated) * 1000 : undefined;
}
