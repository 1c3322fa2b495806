import { errorSchema, isFaultCode, validate } from "@resource-broker/contract";
import type { RawRequest, Reply } from "./arena.ts";

/** What is wrong with a reply, whatever was asked; undefined: nothing. */
export function wrongReply({ method, path }: RawRequest, reply: Reply | undefined): string | undefined {
  if (reply === undefined || reply.status === 0) return undefined;
  const { status, text } = reply;
  const about = `${method} ${path.slice(0, 120)}: ${status} ${text.slice(0, 300)}`;
  if (status >= 500) return `a server error: ${about}`;
  if (status < 400 || method === "HEAD") return undefined;
  const read = validate(errorSchema, jsonIn(text));
  if (!read.ok) return `an error that is not one of ours: ${about}`;
  return isFaultCode(read.value.code ?? "") ? undefined : `an error with an unknown code: ${about}`;
}

export function isAccepted(reply: Reply | undefined): boolean {
  return reply !== undefined && reply.status >= 200 && reply.status < 300;
}

export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
