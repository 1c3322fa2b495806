import type { Key } from "../view/model.ts";

/** What a person wants who pressed it. */
export type KeyAction = Key | "end" | "suspend" | "redraw";

const KEY_ACTIONS: Readonly<Record<string, KeyAction>> = {
  c: "commands",
  C: "commands",
  "\u001b": "back",
  "\u001b[A": "up",
  "\u001bOA": "up",
  k: "up",
  "\u001b[B": "down",
  "\u001bOB": "down",
  j: "down",
  q: "end",
  Q: "end",
  "\u0003": "end",
  "\u0004": "end",
  "\u001a": "suspend",
  "\u000c": "redraw",
};

/** Arrows and the like: they begin with an escape, and so does a key called Escape. */
const ESCAPE = "\u001b";
const KEY = new RegExp(String.raw`${ESCAPE}(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])?|[^${ESCAPE}]`, "gu");

/** What was typed, key by key: a terminal may send several at once. */
export function keyActionsIn(typed: string): KeyAction[] {
  return (typed.match(KEY) ?? []).flatMap((key) => KEY_ACTIONS[key] ?? []);
}
