import { expect, test } from "vitest";
import { tellStory } from "./story.ts";

test("the story grants, replays, refuses and releases, in words", () => {
  const story = tellStory(Date.UTC(2026, 0, 5, 12)).join("\n");
  expect(story).toContain("lends 4 CPU / 8Gi Memory to rome.");
  expect(story).toContain("rsv-rome-uid-1-1 is Reserved at");
  expect(story).toContain("Would fit tokyo with 4 GPU instead of 6.");
  expect(story).toContain("rsv-rome-uid-1-1 is Released at");
});
