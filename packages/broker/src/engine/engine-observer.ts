import type { Clock } from "@resource-broker/base";
import type { Command, Decision, Kept, Reply } from "@resource-broker/domain";
import type { FailureKind } from "../store/store.ts";

/** Engine events for metrics and the log. */
export interface EngineObserver {
  /** A batch was decided: number of commands and duration. */
  readonly decided: (commands: number, milliseconds: number) => void;
  /** Waiting requests were planned: what is expected of them replaces what was expected before. */
  readonly planned: (plans: readonly Kept[]) => void;
  readonly committed: (commands: number, milliseconds: number) => void;
  /** A request was granted and committed; the time since it was received. */
  readonly granted: (milliseconds: number) => void;
  /** A refusal beyond what is recorded of one requester in an hour; the first one of that hour, or another. */
  readonly refusalNotRecorded: (decision: Decision, isFirst: boolean) => void;
  readonly commitFailed: (kind: FailureKind, error: Error) => void;
  /** A command made the domain throw: a bug. */
  readonly commandFailed: (kind: string, error: Error) => void;
  /** Someone who listens to commits threw. */
  readonly listenerFailed: (error: Error) => void;
  readonly advertisementsNotSaved: (error: Error) => void;
}

export const NO_OBSERVER: EngineObserver = {
  decided: () => {},
  planned: () => {},
  committed: () => {},
  granted: () => {},
  refusalNotRecorded: () => {},
  commitFailed: () => {},
  commandFailed: () => {},
  listenerFailed: () => {},
  advertisementsNotSaved: () => {},
};

interface TimedDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly observer: Pick<EngineObserver, "granted">;
}

/** Wraps `resolve` and measures the time until a grant is durable. */
export function timed(
  command: Command,
  resolve: (reply: Reply) => void,
  { clock, observer }: TimedDeps,
): (reply: Reply) => void {
  if (command.kind !== "reserve") return resolve;
  const askedAt = clock.monotonicMs();
  return (reply) => {
    if (reply.kind === "granted") observer.granted(clock.monotonicMs() - askedAt);
    resolve(reply);
  };
}
