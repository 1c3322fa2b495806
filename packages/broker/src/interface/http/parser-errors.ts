import type { Duplex } from "node:stream";
import { Fault, toErrorBody } from "@resource-broker/contract";

const TOO_SLOW = "ERR_HTTP_REQUEST_TIMEOUT";

interface Refusal {
  readonly status: string;
  readonly fault: Fault;
}

/**
 * What Node's parser refused never becomes a request: the answer is written to the socket itself. Everything else
 * that comes here (failed handshakes, broken connections) has nobody left to answer.
 */
export function answerParserError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const isAboutRequest = error.code?.startsWith("HPE_") === true || error.code === TOO_SLOW;
  if (!isAboutRequest || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, fault } = refusalFor(error.code);
  const body = JSON.stringify(toErrorBody(fault));
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  // Close the socket even if the client does not.
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`, () => socket.destroy());
}

function refusalFor(code: string | undefined): Refusal {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: "431 Request Header Fields Too Large",
        fault: new Fault("too-large", "the headers are too large; send at most 16 KiB of them"),
      };
    case TOO_SLOW:
      return {
        status: "408 Request Timeout",
        fault: new Fault("malformed", "the request did not arrive in time; send it at once"),
      };
    default:
      return {
        status: "400 Bad Request",
        fault: new Fault("malformed", `this is not a request in HTTP/1.1 (${code ?? "unknown"})`),
      };
  }
}
