export interface Planted {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** As oxlint prints it. */
  readonly rule: string;
}

const lines = (count: number): string => "export {};\n".repeat(count);

/** One for each rule that lint enforces. */
export const violations: readonly Planted[] = [
  {
    name: "a promise nobody waits for",
    path: "packages/domain/src/floating.ts",
    text: `async function save(): Promise<void> {} export function run(): void { save(); }`,
    rule: "typescript(no-floating-promises)",
  },
  {
    name: "a promise where a plain answer is expected",
    path: "packages/domain/src/misused.ts",
    text: `export const run = (save: () => Promise<boolean>): string => { if (save()) return "saved"; return ""; };`,
    rule: "typescript(no-misused-promises)",
  },
  {
    name: "a promise returned out of a try block",
    path: "packages/domain/src/returned.ts",
    text: `export async function run(save: () => Promise<number>): Promise<number> { try { return save(); } catch { return 0; } }`,
    rule: "typescript(return-await)",
  },
  {
    name: "a switch that forgets a phase",
    path: "packages/domain/src/switch.ts",
    text: `export function end(phase: "reserved" | "failed"): void { switch (phase) { case "failed": break; } }`,
    rule: "typescript(switch-exhaustiveness-check)",
  },
  {
    name: "a thrown string",
    path: "packages/domain/src/thrown.ts",
    text: `export function fail(): never { throw "expired"; }`,
    rule: "typescript(only-throw-error)",
  },
  {
    name: "any",
    path: "packages/domain/src/any.ts",
    text: `export function read(request: any): void { void request; }`,
    rule: "typescript(no-explicit-any)",
  },
  {
    name: "an any that spreads by assignment",
    path: "packages/domain/src/assignment.ts",
    text: `export const parsed = JSON.parse("1");`,
    rule: "typescript(no-unsafe-assignment)",
  },
  {
    name: "an any that is called",
    path: "packages/domain/src/call.ts",
    text: `JSON.parse("1")();`,
    rule: "typescript(no-unsafe-call)",
  },
  {
    name: "an any that is looked into",
    path: "packages/domain/src/member.ts",
    text: `export const size: number = Number(JSON.parse("1").size);`,
    rule: "typescript(no-unsafe-member-access)",
  },
  {
    name: "an any that is returned",
    path: "packages/domain/src/return.ts",
    text: `export function parse(text: string): number { return JSON.parse(text); }`,
    rule: "typescript(no-unsafe-return)",
  },
  {
    name: "an any that is passed on",
    path: "packages/domain/src/argument.ts",
    text: `declare function reserve(name: string): void; reserve(JSON.parse("1"));`,
    rule: "typescript(no-unsafe-argument)",
  },
  {
    name: "a cast that trusts unchecked input",
    path: "packages/domain/src/cast.ts",
    text: `export const name = (input: unknown): string => input as string;`,
    rule: "typescript(no-unsafe-type-assertion)",
  },
  {
    name: "a non-null assertion",
    path: "packages/domain/src/non-null.ts",
    text: `export const first = (names: readonly string[]): string => names[0]!;`,
    rule: "typescript(no-non-null-assertion)",
  },
  {
    name: "a type imported as a value",
    path: "packages/domain/src/type-import.ts",
    text: `import { Shape } from "./shape.ts"; export const shape: Shape = { side: 1 };`,
    rule: "typescript(consistent-type-imports)",
  },
  {
    name: "a type imported inline, where the layer rules cannot see it",
    path: "packages/domain/src/inline-import.ts",
    text: `export const shape: import("./shape.ts").Shape = { side: 1 };`,
    rule: "typescript(consistent-type-imports)",
  },
  {
    name: "a silenced compiler error",
    path: "packages/domain/src/silenced.ts",
    text: `// @ts-ignore\nexport const one: string = 1;`,
    rule: "typescript(ban-ts-comment)",
  },
  {
    name: "a cycle",
    path: "packages/domain/src/cycle.ts",
    text: `import { back } from "./cycle-back.ts"; export const there = back;`,
    rule: "import(no-cycle)",
  },
  {
    name: "the other half of the cycle",
    path: "packages/domain/src/cycle-back.ts",
    text: `import { there } from "./cycle.ts"; export const back: number = there;`,
    rule: "import(no-cycle)",
  },
  {
    name: "a default export",
    path: "packages/domain/src/default.ts",
    text: `export default 1;`,
    rule: "import(no-default-export)",
  },
  {
    name: "a surface without names",
    path: "packages/domain/src/star.ts",
    text: `export * from "./shape.ts";`,
    rule: "house(no-export-all)",
  },
  {
    name: "console outside a main",
    path: "packages/broker/src/app.ts",
    text: `console.log("ready");`,
    rule: "eslint(no-console)",
  },
  {
    name: "process.env outside a main",
    path: "packages/broker/src/options.ts",
    text: `export const port = process.env["PORT"];`,
    rule: "node(no-process-env)",
  },
  {
    name: "Date.now in the domain",
    path: "packages/domain/src/clock.ts",
    text: `export const now = (): number => Date.now();`,
    rule: "eslint(no-restricted-properties)",
  },
  {
    name: "Date.now in a test",
    path: "packages/domain/src/clock.test.ts",
    text: `export const now = (): number => Date.now();`,
    rule: "eslint(no-restricted-properties)",
  },
  {
    name: "Math.random in the domain",
    path: "packages/domain/src/random.ts",
    text: `export const draw = (): number => Math.random();`,
    rule: "eslint(no-restricted-properties)",
  },
  {
    name: "new Date() in the domain",
    path: "packages/domain/src/date.ts",
    text: `export const now = (): Date => new Date();`,
    rule: "house(no-clock-constructor)",
  },
  {
    name: "a module mock",
    path: "packages/domain/src/mock.test.ts",
    text: `import { vi } from "vitest"; vi.mock("./shape.ts");`,
    rule: "eslint(no-restricted-properties)",
  },
  {
    name: "a module mock in a script's test",
    path: "scripts/mock.test.ts",
    text: `import { vi } from "vitest"; vi.doMock("./shape.ts");`,
    rule: "eslint(no-restricted-properties)",
  },
  {
    name: "a test that runs alone",
    path: "packages/domain/src/only.test.ts",
    text: `import { expect, it } from "vitest"; it.only("adds", () => { expect(1).toBe(1); });`,
    rule: "vitest(no-focused-tests)",
  },
  {
    name: "a test that is switched off",
    path: "packages/domain/src/skip.test.ts",
    text: `import { expect, it } from "vitest"; it.skip("adds", () => { expect(1).toBe(1); });`,
    rule: "vitest(no-disabled-tests)",
  },
  {
    name: "a test that checks nothing",
    path: "packages/domain/src/empty.test.ts",
    text: `import { it } from "vitest"; it("adds", () => { String(1); });`,
    rule: "vitest(expect-expect)",
  },
  {
    name: "a file of 301 lines",
    path: "packages/domain/src/long.ts",
    text: lines(301),
    rule: "eslint(max-lines)",
  },
  {
    name: "a test of 601 lines",
    path: "packages/domain/src/long.test.ts",
    text: lines(601),
    rule: "eslint(max-lines)",
  },
  {
    name: "a main of 61 lines",
    path: "packages/broker/src/main.ts",
    text: lines(61),
    rule: "eslint(max-lines)",
  },
  {
    name: "eleven ways through a function",
    path: "packages/domain/src/complex.ts",
    text: `export function pick(n: number): number { ${"if (n > 1) n += 1; ".repeat(10)} return n; }`,
    rule: "eslint(complexity)",
  },
  {
    name: "a message of the wire in the agent's logic",
    path: "packages/agent/src/requester/plan-request.ts",
    text: `import type { ReservationDTO } from "@resource-broker/contract"; export type Known = ReservationDTO;`,
    rule: "house(wire-at-the-edge)",
  },
  {
    name: "four levels of nesting",
    path: "packages/domain/src/deep.ts",
    text: `export function pick(n: number): void { if (n) { if (n) { if (n) { if (n) { void n; } } } } }`,
    rule: "eslint(max-depth)",
  },
  {
    name: "four parameters",
    path: "packages/domain/src/parameters.ts",
    text: `export const sum = (a: number, b: number, c: number, d: number): number => a + b + c + d;`,
    rule: "eslint(max-params)",
  },
];

/** What must stay allowed, or the rules above would be switched off in anger. */
export const allowed: Readonly<Record<string, string>> = {
  "packages/agent/src/transport/mapping.ts": `import type { ReservationDTO } from "@resource-broker/contract"; export type Known = ReservationDTO;\n`,
  "packages/domain/src/shape.ts": `export interface Shape { readonly side: number; }\n`,
  "packages/agent/src/main.ts": `console.log(process.env["PORT"], Date.now(), new Date());\n`,
  "test/bench/domain/main.ts": `console.log(Date.now(), Math.random());\n`,
  "packages/contract/generate/main.ts": `console.log(process.argv);\n`,
  "packages/domain/src/rfc3339.ts": `export const print = (instant: number): string => new Date(instant).toISOString();\n`,
  "packages/domain/src/long-mode.test.ts": `export const long = process.env["LONG"] === "1";\n`,
  "packages/domain/src/property.test.ts": `import fc from "fast-check"; import { it } from "vitest"; it("holds", () => { fc.assert(fc.property(fc.integer(), (n) => n === n + 0)); });\n`,
  "packages/domain/src/helper.test.ts": `import { it } from "vitest"; declare function expectGranted(n: number): void; it("holds", () => { expectGranted(1); });\n`,
  "packages/domain/src/just-long-enough.ts": lines(300),
  "packages/domain/src/many-kinds.ts": `export function rank(kind: ${kinds()}): number { switch (kind) { ${cases()} } }\n`,
  "packages/domain/src/written-default.ts": `export function ended(phase: "reserved" | "failed"): boolean { switch (phase) { case "failed": return true; default: return false; } }\n`,
  "vitest.config.ts": `export default {};\n`,
};

function kinds(): string {
  return Array.from({ length: 12 }, (_, index) => `"k${index}"`).join(" | ");
}

function cases(): string {
  return Array.from({ length: 12 }, (_, index) => `case "k${index}": return ${index};`).join(" ");
}
