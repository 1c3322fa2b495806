import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import type { Known } from "./commands.ts";

/** Programs whose help lists all their flags; the demo has three forms, each with its own. */
const WITH_HELP = new Map([
  ["start", ["apps/demo/src/main.ts", "--tour", "--contexts=all"]],
  ["broker", ["packages/broker/src/main.ts"]],
  ["agent", ["packages/agent/src/main.ts"]],
  ["kube-sim", ["test/kube-sim/src/main.ts"]],
]);
/** Vitest's flags are its own. */
const FREE = /^(?:test|check)/;

/** Reads what can be typed from the repository itself. */
export function knownIn(root: string): Known {
  const scripts: Readonly<Record<string, string>> = packageJson.scripts;
  const flags = new Map<string, ReadonlySet<string>>();
  const flagsOf = (script: string): ReadonlySet<string> | undefined => {
    if (FREE.test(script)) return undefined;
    const found = flags.get(script) ?? readFlags(root, script, scripts[script] ?? "");
    flags.set(script, found);
    return found;
  };
  return {
    scripts: new Set(Object.keys(scripts)),
    makeTargets: makeTargetsIn(root),
    flagsOf,
    brokerctl: brokerctlIn(readFileSync(join(root, "docs/reference/cli/commands.md"), "utf8")),
    exists: (path) => existsSync(join(root, path)),
  };
}

function makeTargetsIn(root: string): ReadonlySet<string> {
  const file = join(root, "Makefile");
  if (!existsSync(file)) return new Set();
  return new Set(
    [...readFileSync(file, "utf8").matchAll(/^([a-z][a-z-]*)[:%]/gm)].map(([, name = ""]) => name),
  );
}

function readFlags(root: string, script: string, command: string): ReadonlySet<string> {
  const [program, ...forms] = WITH_HELP.get(script) ?? [];
  if (program !== undefined) {
    const helpOf = (form: readonly string[]): string =>
      execFileSync(process.execPath, [join(root, program), ...form, "--help"], { encoding: "utf8" });
    return flagsIn([[], ...forms.map((form) => [form])].map(helpOf).join("\n"));
  }
  const main = /([\w./-]+\.(?:ts|mjs))\s*$/.exec(command)?.[1];
  return main === undefined ? new Set() : namesInSource(join(root, dirname(main)));
}

function flagsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/--([a-z][a-z0-9-]*)/g)].map(([, name = ""]) => name));
}

/** A small tool reads its flags with `parseArgs`: each is a key somewhere in its sources. */
function namesInSource(folder: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts") || entry.name.endsWith(".test.ts")) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), "utf8");
    for (const [, name = ""] of text.matchAll(/(?:^|[\s{,"])([a-z][a-z0-9-]*)"?: /gm)) names.add(name);
    for (const name of flagsIn(text)) names.add(name);
  }
  return names;
}

/** The sections of docs/reference/cli/commands.md, which is made from brokerctl itself. */
function brokerctlIn(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const sections = page.split(/^## /m).slice(1);
  const named = sections.flatMap((section) => {
    const [name = ""] = section.split("\n", 1);
    const flags = new Set([...section.matchAll(/-([a-zA-Z][a-z0-9-]*)/g)].map(([, flag = ""]) => flag));
    const others = /^Also called: (.*)$/m.exec(section)?.[1] ?? "";
    const [group = ""] = name.split(" ");
    const aliases = [...others.matchAll(/`([^`]+)`/g)].map(([, alias = ""]) =>
      name.includes(" ") ? `${group} ${alias}` : alias,
    );
    return [name, ...aliases].map((each) => [each, flags] as const);
  });
  return new Map(named.filter(([name]) => /^[a-z]/.test(name)));
}
