import { Agent } from "node:https";
import type { Clock } from "@resource-broker/base";
import type { TypedCall } from "./calls.ts";
import { DEFAULT_HINTS, toBrokerUrl } from "./endpoints.ts";
import { type CallMessage, createExchanger, LimitError, messageOf } from "./exchange.ts";
import { type Answer, answerOf, faultIn, isSuccess, type Reply, readReply } from "./reply.ts";

export interface DirectCallsOptions {
  /** The client certificate, its key and the broker's authority, each in PEM. */
  readonly certificates: { readonly cert: string; readonly key: string; readonly ca: string };
  /** For each call as a whole. */
  readonly timeoutMs: number;
  /** The longest answer. */
  readonly maxBytes: number;
}

/** Calls at a given address, without retry and failover. For a command that runs once and describes failures itself. */
export interface DirectCalls {
  /** Any reply, whatever its status. Rejects with what Node reports, or with a LimitError. */
  readonly send: (call: CallMessage, url: URL) => Promise<Reply>;
  /** A typed call; error replies are thrown as `Fault`. */
  readonly request: <T>(call: TypedCall<T>, url: URL) => Promise<Answer<T>>;
  readonly close: () => void;
}

/** Throws where Node cannot use the certificates. */
export function createDirectCalls(options: DirectCallsOptions, clock: Clock): DirectCalls {
  const { certificates, timeoutMs, maxBytes } = options;
  const agent = new Agent({ ...certificates, keepAlive: true });
  const exchanger = createExchanger(clock, "program");
  const send: DirectCalls["send"] = async (call, url) => {
    const { pathname, search } = new URL(call.path, url);
    const message = messageOf({ ...call, path: pathname + search });
    const at = toBrokerUrl(url);
    const route = { url: at, agent, deadlineMs: clock.monotonicMs() + timeoutMs, stepMs: timeoutMs };
    const sent = await exchanger.exchange(message, route, (response) => readReply(response, at, maxBytes));
    if (sent.kind === "answered") return sent.value;
    throw sent.exceeded === undefined ? sent.error : new LimitError("call", timeoutMs);
  };
  return {
    send,
    request: async (call, url) => {
      const reply = await send(call, url);
      if (!isSuccess(reply)) throw faultIn(reply, DEFAULT_HINTS);
      return answerOf(call.schema, reply);
    },
    close: () => agent.destroy(),
  };
}
