import { CommandError } from "../cli/exit-code.ts";

/** More than any broker has. */
const MOST_ITEMS = 1_000_000;

/** A list that does not move on, or that has no end, is not read for ever. */
export function checkEnds(items: number, movesOn: boolean): void {
  if (movesOn && items <= MOST_ITEMS) return;
  throw new CommandError(
    "error",
    "the broker's list does not end: is there something else behind its address?",
  );
}
