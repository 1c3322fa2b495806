import { Fault } from "@resource-broker/contract";
import type { Line } from "../view/line.ts";
import type { Stage } from "./stage.ts";

/** One step of the tour: its text, its action, and what it prints. */
interface Step<Seen> {
  readonly title: string;
  /** Told before anything happens. */
  readonly says: string;
  /** Runs the step and checks the result. Rejects when a check fails. */
  readonly act: (stage: Stage) => Promise<Seen>;
  /** `columns`: how wide a table may be. */
  readonly shows: (seen: Seen, columns: number) => readonly Line[];
}

/** A step, whatever it is that it sees. */
export interface TourStep extends Pick<Step<unknown>, "title" | "says"> {
  readonly play: (stage: Stage, columns: number) => Promise<readonly Line[]>;
}

export function step<Seen>({ title, says, act, shows }: Step<Seen>): TourStep {
  return { title, says, play: async (stage, columns) => shows(await act(stage), columns) };
}

/** Fails the step when the condition does not hold. */
export function claim(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Fault("internal", otherwise);
}
