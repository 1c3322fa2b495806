import type { Command, Reply } from "@resource-broker/domain";
import type { Clock } from "@resource-broker/runtime";
import type { EngineObserver } from "./engine-observer.ts";

export interface TimedDeps {
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
