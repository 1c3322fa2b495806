import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Entry, isGroup } from "../cli/command.ts";
import { ROOT } from "../commands.ts";
import { runCli, temporaryFolder } from "../testing/cli.ts";

const execute = promisify(execFile);

/** What a person typed, and what the shell must and must not offer then. */
const ROWS: readonly {
  readonly typed: readonly string[];
  readonly offers: readonly string[];
  readonly not?: readonly string[];
}[] = [
  {
    typed: [""],
    offers: ["get", "describe", "certs", "completion", "version"],
    not: ["clusters", "--output"],
  },
  { typed: ["ge"], offers: ["get"] },
  { typed: ["get", ""], offers: ["clusters", "reservations", "requests", "advertisements", "instructions"] },
  { typed: ["get", "re"], offers: ["reservations", "requests"] },
  { typed: ["help", "cer"], offers: ["certs"] },
  { typed: ["get", "clusters", "--o"], offers: ["--output"] },
  { typed: ["get", "requests", "-"], offers: ["--all-namespaces", "-A", "--help"], not: ["--broker"] },
  { typed: ["get", "clusters", "-o", ""], offers: ["table", "wide", "json", "yaml", "name"] },
  { typed: ["get", "clusters", "--output", "j"], offers: ["json"] },
  { typed: ["get", "clusters", "-w", "-o", "y"], offers: ["yaml"] },
  { typed: ["get", "clusters", "--broker", ""], offers: [], not: ["--output", "get"] },
  { typed: ["get", "cluster", "-o", "j"], offers: ["json"] },
  { typed: ["describe", "rreq", "--kube"], offers: ["--kubeconfig"] },
  { typed: ["check", "--only", ""], offers: ["broker", "cluster"] },
  { typed: ["completion", ""], offers: ["bash", "zsh", "fish"] },
];

interface Shell {
  readonly name: "bash" | "zsh" | "fish";
  /** Loads the script, then prints what the shell would offer, a word on each line. */
  readonly ask: (script: string, typed: readonly string[]) => readonly string[];
}

const SHELLS: readonly Shell[] = [
  {
    name: "bash",
    ask: (script, typed) => [
      "--norc",
      "-c",
      'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _brokerctl; printf "%s\\n" "${COMPREPLY[@]}"',
      "bash",
      script,
      "brokerctl",
      ...typed,
    ],
  },
  {
    name: "zsh",
    // Its own machinery works in a terminal only: what the script hands to it is printed instead, if it fits.
    ask: (script, typed) => [
      "-f",
      "-c",
      `compdef() { :; }; _files() { print -l *(N); }; _message() { :; }
offer() { local each; for each in "$@"; do [[ $each == \${words[CURRENT]}* ]] && print -r -- "$each"; done; true; }
_describe() { offer "\${(@)\${(@P)2}%%:*}"; }; compadd() { shift; offer "$@"; }
source "$1"; shift; words=("$@"); CURRENT=$#; _brokerctl`,
      "zsh",
      script,
      "brokerctl",
      ...typed,
    ],
  },
  {
    name: "fish",
    ask: (script, typed) => [
      "--no-config",
      "-c",
      "source $argv[1]; complete -C (string join ' ' -- $argv[2..-1]) | string replace -r '\\t.*' ''; true",
      script,
      "brokerctl",
      ...typed,
    ],
  },
];

describe.each(SHELLS)("in $name", ({ name, ask }) => {
  const isThere = spawnSync(name, ["-c", "true"]).status === 0;
  let script = "";

  beforeAll(async () => {
    const folder = await temporaryFolder((cleanUp) => void folders.push(cleanUp));
    script = join(folder, "script");
    await writeFile(script, (await runCli(["completion", name])).out);
    return async () => {
      for (const cleanUp of folders.splice(0)) await cleanUp();
    };
  });

  test.skipIf(!isThere).each(ROWS)("$typed offers $offers", async ({ typed, offers, not = [] }) => {
    const { stdout, stderr } = await execute(name, [...ask(script, typed)]);
    const offered = stdout.split("\n").filter((word) => word !== "");
    expect(stderr).toBe("");
    expect(offered).toEqual(expect.arrayContaining([...offers]));
    for (const word of not) expect(offered).not.toContain(word);
    if (offers.length === 1) expect(offered).toEqual(offers);
  });

  test.skipIf(!isThere)("files and folders are offered where they are wanted", async () => {
    const cwd = await temporaryFolder(onTestFinished);
    await writeFile(join(cwd, "copy of ledger.db"), "");
    const { stdout } = await execute(name, [...ask(script, ["backup", ""])], { cwd });
    expect(stdout).toMatch(/copy( |\\ )of( |\\ )ledger\.db/u);
  });

  test("the script knows every command and every option", async () => {
    const { out } = await runCli(["completion", name]);
    for (const { path, options } of everyPath(ROOT, "brokerctl")) {
      expect(out).toContain(`'${path}'`.replaceAll("'", name === "fish" ? "" : "'"));
      for (const option of options) expect(out).toMatch(new RegExp(`(--|-l )${option}\\b`, "u"));
    }
  });
});

const folders: (() => Promise<void>)[] = [];

test.each(["--output=", "--output=j"])("bash completes the value after %s", async (typed) => {
  const folder = await temporaryFolder(onTestFinished);
  const script = join(folder, "script");
  await writeFile(script, (await runCli(["completion", "bash"])).out);
  const [option = "", value = ""] = typed.split("=");
  const words = value === "" ? ["get", "clusters", option, "="] : ["get", "clusters", option, "=", value];
  const ask = SHELLS[0]?.ask(script, words) ?? [];
  expect((await execute("bash", [...ask])).stdout).toContain("json");
});

function everyPath(entry: Entry, path: string): { path: string; options: readonly string[] }[] {
  if (!isGroup(entry)) return [{ path, options: Object.keys(entry.options) }];
  return [
    { path, options: [] },
    ...entry.commands.flatMap((child) => everyPath(child, `${path} ${child.name}`)),
  ];
}
