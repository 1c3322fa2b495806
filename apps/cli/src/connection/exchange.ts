import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import { CommandError } from "../cli/exit-code.ts";
import { connectionError, type Peer } from "./connection-problem.ts";

/** More than the longest page that a broker sends. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface Message {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A whole answer, whatever it says. */
export interface Reply {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface ExchangeOptions extends Peer {
  readonly agent: Agent;
  readonly timeoutMs: number;
}

/** Sends one request and reads the answer. Throws a CommandError with the reason when there is no answer. */
export async function exchange(message: Message, wire: ExchangeOptions): Promise<Reply> {
  const { url, agent, timeoutMs } = wire;
  const { method, path, headers, body } = message;
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const sent = request(new URL(path, url), { method, headers, agent, signal: deadline });
    sent.end(body);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve);
      sent.on("error", reject);
    });
    return { url, status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
  } catch (error) {
    if (!deadline.aborted) throw connectionError(error, wire);
    throw new CommandError(
      "timeout",
      `${url.origin} gave no answer within ${timeoutMs / 1000} s; --request-timeout allows more`,
      { cause: error },
    );
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MOST_BYTES) throw new Error("the answer is longer than any of a broker's");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
