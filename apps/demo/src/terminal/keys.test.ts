import { expect, test } from "vitest";
import { keyActionsIn } from "./keys.ts";

test.each([
  { name: "c", typed: "c", commands: ["commands"] },
  { name: "q", typed: "q", commands: ["end"] },
  { name: "Ctrl-C", typed: "\u0003", commands: ["end"] },
  { name: "Ctrl-Z", typed: "\u001a", commands: ["suspend"] },
  { name: "Escape", typed: "\u001b", commands: ["back"] },
  { name: "an arrow", typed: "\u001b[A", commands: ["up"] },
  { name: "an arrow of another mode", typed: "\u001bOB", commands: ["down"] },
  { name: "several at once", typed: "\u001b[B\u001b[Bcq", commands: ["down", "down", "commands", "end"] },
  { name: "a key that means nothing", typed: "\u001b[5~x", commands: [] },
])("$name is understood", ({ typed, commands: actions }) => {
  expect(keyActionsIn(typed)).toEqual(actions);
});
