import type { ServerResponse } from "node:http";

/** What goes back to the caller. */
export type Answer = WholeAnswer | PiecesAnswer | StreamAnswer;

export interface WholeAnswer {
  readonly kind: "whole";
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly warnings?: readonly string[];
  readonly retryAfterSeconds?: number;
}

/** A list: made piece by piece, so that a large one is never in memory as a whole. */
export interface PiecesAnswer {
  readonly kind: "pieces";
  readonly contentType: string;
  readonly pieces: Iterable<string | Uint8Array>;
}

/** A watch: headers now, the rest as things happen. */
export interface StreamAnswer {
  readonly kind: "stream";
  readonly contentType: string;
  readonly run: (response: ServerResponse) => void;
}
