import type { Clock } from "@resource-broker/base";

/** What a mode of `npm start` needs of its process. */
export interface ModeHost {
  /** `process`. */
  readonly hostProcess: Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "on">;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Says what went wrong, if anything, and ends the process. */
  readonly end: (code: number, ...problems: readonly string[]) => void;
}
