import type { Clock } from "@resource-broker/base";

/** What the tour needs of its process. */
export interface TourHost {
  readonly input: Pick<NodeJS.ReadStream, "isTTY" | "setRawMode" | "setEncoding" | "on" | "pause">;
  readonly output: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">;
  readonly signals: { readonly on: (signal: "SIGTERM" | "SIGINT", listener: () => void) => unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Says what went wrong, if anything, and ends the process. */
  readonly end: (code: number, ...problems: readonly string[]) => void;
}
