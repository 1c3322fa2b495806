import type { ServerResponse } from "node:http";
import type { Fault } from "@resource-broker/base";
import { HEADER, PROTOCOL_VERSION, toErrorBody } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { PlainAnswer } from "./route.ts";

const JSON_TYPE = "application/json";
const NO_HEADERS: readonly string[] = [];
const NO_CONTENT = 204;
const SECOND_MS = 1000;
const DEFAULT_RETRY_MS = 1000;

/** Sends replies with the common headers. */
export interface Replier {
  readonly send: (response: ServerResponse, answer: PlainAnswer, options?: SendOptions) => void;
  readonly sendFault: (response: ServerResponse, fault: Fault, options?: SendOptions) => void;
  /** Headers of a reply that is written bit by bit. */
  readonly headers: () => string[];
}

export interface SendOptions {
  /** True: this was the last reply on the connection. */
  readonly isLast?: boolean;
  readonly headers?: readonly string[];
}

export interface ReplierDeps {
  readonly ledgerId: () => string;
  readonly now: () => Instant;
}

export function createReplier({ ledgerId, now }: ReplierDeps): Replier {
  let dateSecond = -1;
  let date = "";

  /** Agents use this header as the broker's time, so it is the engine's time. It is formatted once per second. */
  const dateText = (): string => {
    const second = Math.floor(now() / SECOND_MS);
    if (second !== dateSecond) {
      dateSecond = second;
      date = new Date(second * SECOND_MS).toUTCString();
    }
    return date;
  };

  /** A standby sends no ledger ID: agents would take an empty ID for a new ledger. */
  const ledger = (): readonly string[] => (ledgerId() === "" ? NO_HEADERS : [HEADER.ledgerId, ledgerId()]);

  const common = (): string[] => [
    "Date",
    dateText(),
    ...ledger(),
    HEADER.brokerProtocol,
    String(PROTOCOL_VERSION),
  ];

  const send: Replier["send"] = (response, answer, options = {}) => {
    if (response.destroyed || response.headersSent) return;
    const { type, content } = contentOf(answer);
    const headers = common();
    if (content !== "") headers.push("Content-Type", type);
    if (answer.status !== NO_CONTENT) headers.push("Content-Length", String(Buffer.byteLength(content)));
    if (answer.headers !== undefined) headers.push(...answer.headers);
    if (options.headers !== undefined) headers.push(...options.headers);
    if (options.isLast === true) headers.push("Connection", "close");
    response.writeHead(answer.status, headers);
    response.end(content);
  };

  const sendFault: Replier["sendFault"] = (response, fault, options = {}) => {
    const answer = { status: fault.status, body: toErrorBody(fault), headers: retryHeaders(fault) };
    send(response, answer, options);
  };

  return { send, sendFault, headers: common };
}

function contentOf({ text, body }: PlainAnswer): { readonly type: string; readonly content: string } {
  if (text !== undefined) return text;
  return { type: JSON_TYPE, content: body === undefined ? "" : JSON.stringify(body) };
}

/** Retry-After for faults that may succeed later. Whole seconds, at least 1: immediate retries caused the overload. */
function retryHeaders({ retry, status, details }: Fault): readonly string[] {
  if (!retry || status === 409) return NO_HEADERS;
  const seconds = Math.max(1, Math.ceil((details.retryAfterMs ?? DEFAULT_RETRY_MS) / SECOND_MS));
  return [HEADER.retryAfter, String(seconds)];
}
