import { expect, test } from "vitest";
import { divideCores, readCoreList } from "./cores.ts";
import { type Machine, objectionsTo } from "./machine.ts";
import { readTimes } from "./noise.ts";
import { flagsOfLauncher } from "./programs.ts";

const FIT: Machine = {
  cpu: "some",
  cores: 2,
  memoryMb: 24_000,
  availableMb: 20_000,
  load: 0.1,
  system: "Linux 6",
  node: "v24",
  commit: "abc",
};

test("a quiet machine that is large enough is fit for everything", () => {
  expect(objectionsTo(FIT, "full")).toEqual([]);
});

test.each([
  { name: "one core", machine: { cores: 1 }, words: "1 core" },
  { name: "little memory", machine: { availableMb: 1_000 }, words: "1000 MB" },
  { name: "other work", machine: { load: 1.7 }, words: "busy" },
])("$name is objected to, but not for a smoke run", ({ machine, words }) => {
  const objections = objectionsTo({ ...FIT, ...machine }, "full");
  expect(objections).toHaveLength(1);
  expect(objections.join()).toContain(words);
  expect(objectionsTo({ ...FIT, ...machine }, "smoke")).toEqual([]);
});

test.each([
  { text: "0-1", cores: [0, 1] },
  { text: "3", cores: [3] },
  { text: " 0-2,7,9-10\n", cores: [0, 1, 2, 7, 9, 10] },
  { text: "", cores: [] },
])("the list of cores '$text' is read", ({ text, cores }) => {
  expect(readCoreList(text)).toEqual(cores);
});

test.each([
  { name: "the first of several is the broker's", allowed: [4, 5, 6], broker: [4], load: [5, 6] },
  { name: "one alone is everybody's", allowed: [0], broker: [], load: [] },
])("of the cores $name", ({ allowed, broker, load }) => {
  expect(divideCores(allowed)).toEqual({ broker, load });
});

test("stolen time is the eighth figure, and guests are not counted twice", () => {
  expect(readTimes("cpu  1 2 3 4 5 6 7 8 100 100\ncpu0 9 9\n")).toEqual({ total: 36, stolen: 8 });
});

test("Node's flags are those of the agent's launcher", () => {
  const script = `#!/bin/sh\nexec node --max-semi-space-size=1 --no-turbofan "$(dirname "$(readlink -f "$0")")/agent.mjs" "$@"\n`;
  expect(flagsOfLauncher(script)).toEqual(["--max-semi-space-size=1", "--no-turbofan"]);
  expect(() => flagsOfLauncher("#!/bin/sh\n")).toThrow("launcher");
});
