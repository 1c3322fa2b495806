import { expect, test } from "vitest";
import { keyActionsIn } from "./keys.ts";

test.each([
  { name: "c", typed: "c", wishes: ["commands"] },
  { name: "q", typed: "q", wishes: ["end"] },
  { name: "Ctrl-C", typed: "\u0003", wishes: ["end"] },
  { name: "Ctrl-Z", typed: "\u001a", wishes: ["suspend"] },
  { name: "Escape", typed: "\u001b", wishes: ["back"] },
  { name: "an arrow", typed: "\u001b[A", wishes: ["up"] },
  { name: "an arrow of another mode", typed: "\u001bOB", wishes: ["down"] },
  { name: "several at once", typed: "\u001b[B\u001b[Bcq", wishes: ["down", "down", "commands", "end"] },
  { name: "a key that means nothing", typed: "\u001b[5~x", wishes: [] },
])("$name is understood", ({ typed, wishes: actions }) => {
  expect(keyActionsIn(typed)).toEqual(actions);
});
