import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Fault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import { isUtf8 } from "node:buffer";

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/** Parses a body. Throws a Fault with the position of the error. If a name occurs twice, the last one counts, as in Go. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Fault("malformed", "the body is not UTF-8 text");
  const excess = excessOf(bytes);
  if (excess !== undefined) throw new Fault("malformed", excess);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    const where = error instanceof Error ? error.message : String(error);
    throw new Fault("malformed", `the body is not JSON: ${where}`, { cause: error });
  }
}

/**
 * Counts brackets, colons and commas before parsing: deeply nested JSON parses well, but overflows the stack of code that
 * walks it.
 */
function excessOf(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let names = 0;
  let commas = 0;
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case QUOTE:
        index = endOfString(bytes, index);
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (++depth > LIMIT.jsonDepth) return `the body is nested deeper than ${LIMIT.jsonDepth} levels`;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth--;
        break;
      case COLON:
        names++;
        break;
      case COMMA:
        commas++;
        break;
      default:
    }
  }
  const isTooMuch = names > LIMIT.jsonKeys || commas > LIMIT.jsonKeys;
  return isTooMuch ? `the body holds more than ${LIMIT.jsonKeys} values` : undefined;
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let index = start + 1; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === BACKSLASH) index++;
    else if (byte === QUOTE) return index;
  }
  return bytes.length;
}

/** Discards up to this multiple of the limit before closing: most clients read the reply only after sending the body. */
const DISCARD_FACTOR = 8;
const JSON_TYPE = "application/json";

/** True when the caller sends anything at all. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

export interface BodyRules {
  readonly limit: number;
  /** Tells a caller that waits for it to send the body. */
  readonly sendContinue: () => void;
}

/** Reads the body, never keeping more than `limit` bytes of it. Rejects with a Fault. */
export function readBody(request: IncomingMessage, { limit, sendContinue }: BodyRules): Promise<Buffer> {
  const wrongForm = formProblem(request.headers);
  if (wrongForm !== undefined) return Promise.reject(wrongForm);
  const stated = Number(request.headers["content-length"] ?? 0);
  const isUnsent = request.headers.expect !== undefined;
  if (stated > (isUnsent ? limit : DISCARD_FACTOR * limit)) return Promise.reject(tooLarge(limit));
  if (isUnsent) sendContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks.length = 0;
      if (size > DISCARD_FACTOR * limit) reject(tooLarge(limit));
    });
    request.on("end", () => {
      if (size > limit) reject(tooLarge(limit));
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    const endedEarly = (cause?: Error): void =>
      reject(new Fault("malformed", "the body ended too early", { cause }));
    request.on("error", endedEarly);
    request.on("close", () => {
      if (!request.complete) endedEarly();
    });
  });
}

/** True if so much of an unread body is left that the connection should be closed instead of skipping it. */
export function hasMuchLeft({ complete, headers }: IncomingMessage): boolean {
  if (complete || !hasBody(headers)) return false;
  return headers.expect !== undefined || !(Number(headers["content-length"]) <= LIMIT.advertisementBodyBytes);
}

function formProblem(headers: IncomingHttpHeaders): Fault | undefined {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return new Fault(
      "unsupported-media",
      `Content-Encoding ${encoding} is not read; send the body uncompressed`,
    );
  }
  const type = headers["content-type"] ?? "";
  if (isJson(type)) return undefined;
  const stated = type === "" ? "no Content-Type" : `Content-Type ${type}`;
  return new Fault("unsupported-media", `the body has ${stated}; send Content-Type: ${JSON_TYPE}`);
}

/** `application/json`, perhaps with `charset=utf-8`. */
function isJson(type: string): boolean {
  if (type === JSON_TYPE) return true;
  const [name = "", ...parameters] = type.toLowerCase().split(";");
  if (name.trim() !== JSON_TYPE) return false;
  return parameters.every((parameter) => {
    const [key = "", value = ""] = parameter.split("=");
    return key.trim() !== "charset" || ["utf-8", '"utf-8"', "utf8"].includes(value.trim());
  });
}

function tooLarge(limit: number): Fault {
  return new Fault("too-large", `the body is larger than ${limit / 1024} KiB, the most this call takes`);
}
