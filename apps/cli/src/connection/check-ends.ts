import { CommandError } from "../cli/exit-code.ts";

/** More than any broker has. */
const MOST_ITEMS = 1_000_000;

/** Stops reading a list whose cursor does not advance, or that is too long. */
export function checkEnds(items: number, movesOn: boolean): void {
  if (movesOn && items <= MOST_ITEMS) return;
  throw new CommandError("error", "the broker's list does not end; check that --broker names a broker");
}
