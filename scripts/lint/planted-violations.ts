const lines = (count: number): string => "export {};\n".repeat(count);

/** By rule, as oxlint prints it: files that break it. */
export const violations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "typescript(no-floating-promises)": {
    "packages/domain/src/floating.ts": `async function save(): Promise<void> {} export function run(): void { save(); }`,
  },
  "typescript(no-misused-promises)": {
    "packages/domain/src/misused.ts": `export const run = (save: () => Promise<boolean>): string => { if (save()) return "saved"; return ""; };`,
  },
  "typescript(return-await)": {
    "packages/domain/src/returned.ts": `export async function run(save: () => Promise<number>): Promise<number> { try { return save(); } catch { return 0; } }`,
  },
  "typescript(switch-exhaustiveness-check)": {
    "packages/domain/src/switch.ts": `export function end(phase: "reserved" | "failed"): void { switch (phase) { case "failed": break; } }`,
  },
  "typescript(only-throw-error)": {
    "packages/domain/src/thrown.ts": `export function fail(): never { throw "expired"; }`,
  },
  "typescript(no-explicit-any)": {
    "packages/domain/src/any.ts": `export function read(request: any): void { void request; }`,
  },
  "typescript(no-unsafe-assignment)": {
    "packages/domain/src/assignment.ts": `export const parsed = JSON.parse("1");`,
  },
  "typescript(no-unsafe-call)": {
    "packages/domain/src/call.ts": `JSON.parse("1")();`,
  },
  "typescript(no-unsafe-member-access)": {
    "packages/domain/src/member.ts": `export const size: number = Number(JSON.parse("1").size);`,
  },
  "typescript(no-unsafe-return)": {
    "packages/domain/src/return.ts": `export function parse(text: string): number { return JSON.parse(text); }`,
  },
  "typescript(no-unsafe-argument)": {
    "packages/domain/src/argument.ts": `declare function reserve(name: string): void; reserve(JSON.parse("1"));`,
  },
  "typescript(no-unsafe-type-assertion)": {
    "packages/domain/src/cast.ts": `export const name = (input: unknown): string => input as string;`,
  },
  "typescript(no-non-null-assertion)": {
    "packages/domain/src/non-null.ts": `export const first = (names: readonly string[]): string => names[0]!;`,
  },
  "typescript(consistent-type-imports)": {
    "packages/domain/src/type-import.ts": `import { Shape } from "./shape.ts"; export const shape: Shape = { side: 1 };`,
    "packages/domain/src/inline-import.ts": `export const shape: import("./shape.ts").Shape = { side: 1 };`,
  },
  "typescript(ban-ts-comment)": {
    "packages/domain/src/silenced.ts": `// @ts-ignore\nexport const one: string = 1;`,
  },
  "import(no-cycle)": {
    "packages/domain/src/cycle.ts": `import { back } from "./cycle-back.ts"; export const there = back;`,
    "packages/domain/src/cycle-back.ts": `import { there } from "./cycle.ts"; export const back: number = there;`,
  },
  "import(no-default-export)": {
    "packages/domain/src/default.ts": `export default 1;`,
  },
  "house(no-export-all)": {
    "packages/domain/src/star.ts": `export * from "./shape.ts";`,
  },
  "eslint(no-console)": {
    "packages/broker/src/app.ts": `console.log("ready");`,
  },
  "node(no-process-env)": {
    "packages/broker/src/options.ts": `export const port = process.env["PORT"];`,
  },
  "eslint(no-restricted-properties)": {
    "packages/domain/src/clock.ts": `export const now = (): number => Date.now();`,
    "packages/domain/src/clock.test.ts": `export const now = (): number => Date.now();`,
    "packages/domain/src/random.ts": `export const draw = (): number => Math.random();`,
    "packages/domain/src/mock.test.ts": `import { vi } from "vitest"; vi.mock("./shape.ts");`,
    "scripts/mock.test.ts": `import { vi } from "vitest"; vi.doMock("./shape.ts");`,
  },
  "house(no-clock-constructor)": {
    "packages/domain/src/date.ts": `export const now = (): Date => new Date();`,
  },
  "vitest(no-focused-tests)": {
    "packages/domain/src/only.test.ts": `import { expect, it } from "vitest"; it.only("adds", () => { expect(1).toBe(1); });`,
  },
  "vitest(no-disabled-tests)": {
    "packages/domain/src/skip.test.ts": `import { expect, it } from "vitest"; it.skip("adds", () => { expect(1).toBe(1); });`,
  },
  "vitest(expect-expect)": {
    "packages/domain/src/empty.test.ts": `import { it } from "vitest"; it("adds", () => { String(1); });`,
  },
  "eslint(max-lines)": {
    "packages/domain/src/long.ts": lines(301),
    "packages/domain/src/long.test.ts": lines(601),
    "packages/broker/src/main.ts": lines(61),
  },
  "eslint(complexity)": {
    "packages/domain/src/complex.ts": `export function pick(n: number): number { ${"if (n > 1) n += 1; ".repeat(10)} return n; }`,
  },
  "house(wire-at-the-edge)": {
    "packages/agent/src/requester/plan-request.ts": `import type { ReservationDTO } from "@resource-broker/contract"; export type Known = ReservationDTO;`,
  },
  "eslint(max-depth)": {
    "packages/domain/src/deep.ts": `export function pick(n: number): void { if (n) { if (n) { if (n) { if (n) { void n; } } } } }`,
  },
  "eslint(max-params)": {
    "packages/domain/src/parameters.ts": `export const sum = (a: number, b: number, c: number, d: number): number => a + b + c + d;`,
  },
};

/** What must stay allowed, or the rules above would be switched off in anger. */
export const allowed: Readonly<Record<string, string>> = {
  "packages/agent/src/transport/mapping.ts": `import type { ReservationDTO } from "@resource-broker/contract"; export type Known = ReservationDTO;\n`,
  "packages/domain/src/shape.ts": `export interface Shape { readonly side: number; }\n`,
  "packages/agent/src/main.ts": `console.log(process.env["PORT"], Date.now(), new Date());\n`,
  "test/campaigns/fuzz/main.ts": `console.log(Date.now(), Math.random());\n`,
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
