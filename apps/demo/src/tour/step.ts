import { Fault } from "@resource-broker/base";
import type { DecisionDTO } from "@resource-broker/contract";
import { type Line, line, span } from "../view/line.ts";
import type { TourEnvironment } from "./tour-environment.ts";

/** One step of the tour: its text, its action, and what it prints. */
interface Step<Seen> {
  readonly title: string;
  /** Told before anything happens. */
  readonly narration: string;
  /** Runs the step and checks the result. Rejects when a check fails. */
  readonly run: (environment: TourEnvironment) => Promise<Seen>;
  /** `columns`: how wide a table may be. */
  readonly render: (seen: Seen, columns: number) => readonly Line[];
}

/** A step, whatever it is that it sees. */
export interface TourStep extends Pick<Step<unknown>, "title" | "narration"> {
  readonly run: (environment: TourEnvironment, columns: number) => Promise<readonly Line[]>;
}

export function step<Seen>({ title, narration, run, render }: Step<Seen>): TourStep {
  return { title, narration, run: async (environment, columns) => render(await run(environment), columns) };
}

/** Fails the step when the condition does not hold. */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Fault("internal", message);
}

/** The broker's own words, the outcome and what would flip it set apart. */
export function explanationRows({ explanation, winner, flip }: DecisionDTO): Line[] {
  return explanation.split("\n").map((text, index) => {
    if (index === 0) return line(span(text, winner === undefined ? "bad" : "good"));
    if (text === flip) return line(span(text, "careful"));
    return line(text);
  });
}
