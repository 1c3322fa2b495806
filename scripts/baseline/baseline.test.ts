import { describe, expect, test } from "vitest";
import {
  comparable,
  compareSets,
  compareTexts,
  linesToAccept,
  mask,
  metricFamilies,
  readAccepted,
  untrueLines,
  withoutUnknownLabels,
} from "./compare.ts";
import { literalsIn, sortLiterals } from "./literals.ts";
import { rowsOf } from "./measure.ts";
import { commandsIn } from "./programs.ts";

const NOTHING = readAccepted("");

describe("literals", () => {
  test.each([
    ["a string", 'throw new Error("no room left");', ["no room left"]],
    ["a template with expressions", "log(`${a} lends ${b.c} now`);", ["{} lends {} now"]],
    [
      "a text inside an expression of a template",
      "`so ${ok ? 'it fits' : 'it does not'}`;",
      ["it does not", "it fits", "so {}"],
    ],
    ["a sum, as one text", 'const a = "one two " + name + " three";', ["one two {} three"]],
    [
      "a text before a type",
      'const a = "one two" as Text; const b = "three four" satisfies T;',
      ["one two", "three four"],
    ],
    [
      "no type, no import",
      'import x from "some module"; type T = "one two"; const n: "three four" = f();',
      [],
    ],
    ["no single word", 'const a = "word";', []],
  ])("texts: %s", (_, source, texts) => {
    expect(sortLiterals(literalsIn(source)).texts).toEqual(texts);
  });

  test("texts between tags, and in attributes", () => {
    const source = 'const a = <p title="a title">Nothing fits {n} <b>here and now</b></p>;';
    expect(sortLiterals(literalsIn(source, true)).texts).toEqual(["Nothing fits", "a title", "here and now"]);
  });

  test.each([
    [
      "a reason as a key, a code",
      'const a = { Reserved: 1, "no-capacity": 2, plain: 3 };',
      ["Reserved", "no-capacity"],
    ],
    [
      "a metric and a path",
      'f("broker_leading", "/api/v1/audit", "word", "./file.ts");',
      ["/api/v1/audit", "broker_leading"],
    ],
    ["fields of a log line", 'log.info({ port, id: x, ...more }, "it is ready");', ["log:id,port,{}"]],
  ])("names: %s", (_, source, names) => {
    expect(sortLiterals(literalsIn(source)).names).toEqual(names);
  });
});

test("times, ages, IDs, ports and folders are masked, amounts are not", () => {
  const text = [
    "rsv-rome-irblnrpz7gihxu6d  in 59m  12s  1m5s  500m  8Gi  0.1015 EUR/h",
    '"at": "2026-11-16T13:30:29.306Z", "resourceVersion": "42", "cpu": "2", "uid": "4115823c-d66f-40ba-9686-79143e6a1234"',
    "https://127.0.0.1:45403 in /tmp/x/certs until 2027-11-16",
  ].join("\n");
  expect(mask(text, "/tmp/x")).toBe(
    [
      "rsv-rome-<id>  in <duration>  <duration>  <duration>  500m  8Gi  0.1015 EUR/h",
      '"at": <time>, "resourceVersion": <number>, "cpu": "2", "uid": <uid>',
      "https://127.0.0.1:<port> in <folder>/certs until <date>",
    ].join("\n"),
  );
});

describe("metrics", () => {
  const scrape = [
    "# HELP a_total Things.",
    "# TYPE a_total counter",
    'a_total{kind="x"} 3',
    "# HELP b_seconds Time.",
    "# TYPE b_seconds histogram",
    'b_seconds_bucket{le="0.1"} 3',
    'b_seconds_bucket{le="+Inf"} 4',
    "b_seconds_sum 1",
    "# HELP c_total Rare.",
    "# TYPE c_total counter",
  ].join("\n");

  test("have type, help, labels and bounds, and no values", () => {
    expect([...metricFamilies(scrape)]).toEqual([
      ["a_total", "counter\nThings.\nlabels: kind"],
      ["b_seconds", "histogram\nTime.\nlabels: le=0.1, le=+Inf"],
      ["c_total", "counter\nRare.\nlabels: not sampled"],
    ]);
  });

  test("labels are compared when there was a sample to see them by", () => {
    expect(withoutUnknownLabels("counter\nRare.\nlabels: not sampled", "counter\nRare.\nlabels: kind")).toBe(
      "counter\nRare.",
    );
    expect(withoutUnknownLabels("counter\nOften.\nlabels: kind", "counter\nOften.\nlabels: ")).toBe(
      "counter\nOften.\nlabels: ",
    );
  });
});

describe("what may differ in a file", () => {
  test.each([
    ["comments and layout of YAML", "a.yaml", "# one\na: {b: 1}\n", "a:\n  b: 1 # two\n", true],
    ["a value in YAML", "a.yaml", "a: 1\n", "a: 2\n", false],
    [
      "running text and links of Markdown",
      "a.md",
      "Old words.\n\n| `--a` | [x](old.md) |\n",
      "New.\n\n| `--a` | [x](new.md) |\n",
      true,
    ],
    ["a row of Markdown", "a.md", "| `--a` | text |\n", "| `--b` | text |\n", false],
    [
      "a template of Helm",
      "a.yaml",
      "{{ if .a }}\nb: 1\n{{ end }}\n",
      "{{ if .b }}\nb: 1\n{{ end }}\n",
      false,
    ],
  ])("%s", (_, name, before, now, isSame) => {
    expect(compareTexts(comparable(name, before), comparable(name, now), NOTHING) === undefined).toBe(isSame);
  });
});

describe("accepted changes", () => {
  const accepted = readAccepted(
    [
      "# why",
      "- {} lends {} to {}",
      "+ {1} provides {2} to {3}",
      "",
      "- is gone now",
      "# alone",
      "+ is new here",
      "- a b",
      "+ b c",
      "- b c",
      "+ c d",
    ].join("\n"),
  );

  test("are read in pairs where one line follows the other", () => {
    expect(accepted.rewordings.map(({ from }) => from)).toEqual([
      "{} lends {} to {}",
      "is gone now",
      "a b",
      "b c",
    ]);
    expect(accepted.added.has("{} provides {} to {}")).toBe(true);
    expect(() => readAccepted("old text")).toThrow('"old text" begins with none of');
  });

  test("of sets", () => {
    expect(
      compareSets(["is gone now", "stays", "lost"], ["is new here", "stays", "unheard of"], accepted),
    ).toEqual({
      added: ["unheard of"],
      removed: ["lost"],
    });
  });

  test.each([
    ["wrapped otherwise", "one two\n  three", "one\ntwo three", true],
    [
      "reworded around its expressions",
      'message: "paris lends 2 CPU to rome."',
      'message: "paris provides 2 CPU to rome."',
      true,
    ],
    [
      "reworded, and something else changed",
      "paris lends 2 CPU to rome.",
      "paris provides 3 CPU to rome.",
      false,
    ],
    ["a rewording inside another one's new words", "a b.", "b c.", true],
    ["not reworded everywhere", "is gone now, is gone now", "is gone now, is new here", true],
    ["reworded twice", "a b.", "c d.", false],
    ["only part of a word", "da b.", "db c.", false],
  ])("of texts: %s", (_, before, now, isSame) => {
    expect(compareTexts(before, now, accepted) === undefined).toBe(isSame);
  });

  test("that did not happen are reported", () => {
    const few = readAccepted("- is gone\n- still here, in part\n+ is new\n+ is nowhere\n- still here");
    const lines = untrueLines(few, (text) => ["still here", "still here, in part", "is new"].includes(text));
    expect(lines).toEqual(["- still here", "+ is nowhere"]);
  });

  test("are proposed with the new text after the old one that is most like it", () => {
    const changes = {
      removed: ["the broker is ready", "lost for good"],
      added: ["quite another", "the broker is ready now"],
    };
    expect(linesToAccept(changes)).toEqual([
      "+ quite another",
      "- the broker is ready",
      "+ the broker is ready now",
      "- lost for good",
    ]);
  });
});

test("a difference is shown with what is before it, up to its last word", () => {
  const long = "x".repeat(200);
  expect(compareTexts(`${long} a b older h i`, `${long} a b newer h i`, NOTHING)).toMatch(
    /^- x+ a b older\n\+ x+ a b newer$/u,
  );
  expect(compareTexts("a b", "a b c", NOTHING)).toBe("- a b\n+ a b c");
  expect(compareTexts(`{"${long}":1,"old":2}`, `{"${long}":1,"new":2}`, NOTHING)).toMatch(
    /:1,"old":2\}\n.*:1,"new":2\}$/u,
  );
});

test("commands are found in a page of help, rows in the table of a bench", () => {
  expect(
    commandsIn(
      "Usage: x\n\nCommands:\n  get       Lists\n            things\n  wait      Waits\n\nOptions:\n  --a\n",
    ),
  ).toEqual(["get", "wait"]);
  expect(rowsOf("Node v24\n\n       time  target\nparse   12 ns   50 ns\n")).toEqual({ parse: "12 ns" });
});
