import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Answer, WholeAnswer } from "./answer.ts";

/** Writes an answer; rejects when the caller goes away before its end. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
): Promise<void> {
  response.setHeader("Content-Type", answer.contentType);
  response.setHeader("Cache-Control", "no-cache, private");
  switch (answer.kind) {
    case "whole":
      return sendWhole(request, response, answer);
    case "pieces":
      return pipeline(Readable.from(answer.pieces), response);
    case "stream":
      response.statusCode = 200;
      answer.run(response);
      if (!response.headersSent) response.flushHeaders();
  }
}

function sendWhole(request: IncomingMessage, response: ServerResponse, answer: WholeAnswer): void {
  const { status, body, warnings = [], retryAfterSeconds } = answer;
  response.statusCode = status;
  if (warnings.length > 0) response.setHeader("Warning", warnings.map(warningHeader));
  if (retryAfterSeconds !== undefined) response.setHeader("Retry-After", retryAfterSeconds);
  // What is left of a body that nobody read would be taken for the next request.
  if (!request.complete) response.setHeader("Connection", "close");
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(body);
}

/** Headers take no control characters and no letters beyond Latin-1. */
function warningHeader(text: string): string {
  const plain = Array.from(text.replaceAll(/[\\"]/gu, "\\$&"), (letter) =>
    letter >= " " && letter <= "~" ? letter : "?",
  );
  return `299 - "${plain.join("")}"`;
}
