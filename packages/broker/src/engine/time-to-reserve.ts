import type { Command, Reply } from "@resource-broker/domain";
import type { MachineTime } from "@resource-broker/runtime";
import type { EngineObserver } from "./engine-observer.ts";

export interface TimedDeps {
  readonly machine: Pick<MachineTime, "monotonicMs">;
  readonly observer: Pick<EngineObserver, "granted">;
}

/** Wraps `resolve` and measures the time until a grant is durable. */
export function timed(
  command: Command,
  resolve: (reply: Reply) => void,
  { machine, observer }: TimedDeps,
): (reply: Reply) => void {
  if (command.kind !== "reserve") return resolve;
  const askedAt = machine.monotonicMs();
  return (reply) => {
    if (reply.kind === "granted") observer.granted(machine.monotonicMs() - askedAt);
    resolve(reply);
  };
}
