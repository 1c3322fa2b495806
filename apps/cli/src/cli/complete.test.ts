import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli, temporaryFolder } from "../testing/cli.ts";

const execute = promisify(execFile);
const BIN = fileURLToPath(new URL("../../../../bin", import.meta.url));

/** What a person typed, and all that may come in the place of the last word. */
const ROWS: readonly { readonly typed: readonly string[]; readonly offers: readonly string[] }[] = [
  { typed: ["ge"], offers: ["get", ":4"] },
  { typed: ["get", "re"], offers: ["reservations", "requests", ":4"] },
  { typed: ["help", "cer"], offers: ["certs", ":4"] },
  { typed: ["certs", "-"], offers: ["--help", ":4"] },
  { typed: ["get", "clusters", "--o"], offers: ["--output", ":4"] },
  { typed: ["get", "requests", "-A"], offers: ["-A", ":4"] },
  { typed: ["get", "clusters", "-o", ""], offers: ["table", "wide", "json", "yaml", "name", ":4"] },
  { typed: ["get", "clusters", "-w", "-o", "y"], offers: ["yaml", ":4"] },
  { typed: ["get", "clusters", "--output=j"], offers: ["--output=json", ":4"] },
  { typed: ["get", "clusters", "--output", "=", "j"], offers: ["json", ":4"] },
  { typed: ["get", "clusters", "--output", "="], offers: ["table", "wide", "json", "yaml", "name", ":4"] },
  { typed: ["get", "clusters", "--broker", ""], offers: [":4"] },
  { typed: ["get", "cluster", "-o", "j"], offers: ["json", ":4"] },
  { typed: ["describe", "rreq", "--kube"], offers: ["--kubeconfig", ":4"] },
  { typed: ["check", "--only", ""], offers: ["broker", "cluster", ":4"] },
  { typed: ["completion", ""], offers: ["bash", "zsh", "fish", ":4"] },
  { typed: ["backup", ""], offers: [":0"] },
  { typed: ["get", "requests", "--kubeconfig", ""], offers: [":0"] },
  { typed: ["certs", "init", "--dir", ""], offers: [":16"] },
  { typed: ["get", "q"], offers: ["queue", ":4"] },
  { typed: ["get", "queue", "--req"], offers: ["--requester", "--request-timeout", ":4"] },
  { typed: ["get", "requests", "--all-"], offers: ["--all-clusters", "--all-namespaces", ":4"] },
  { typed: ["reserve", "--no-"], offers: ["--no-follow", ":4"] },
  { typed: ["dr"], offers: ["drain", ":4"] },
  { typed: ["get", "m"], offers: ["members", ":4"] },
  { typed: ["invite", "rome", "-o", ""], offers: ["secret", "json", "token", ":4"] },
  { typed: ["join", "-f", ""], offers: [":0"] },
  { typed: ["certs", "sign", "--csr", ""], offers: [":0"] },
  { typed: ["nonsense", ""], offers: [":4"] },
];

test.each(ROWS)("$typed goes on with $offers", async ({ typed, offers }) => {
  const { code, out } = await runCli(["__complete", ...typed]);
  expect({
    code,
    offers: out
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[0]),
  }).toEqual({ code: 0, offers });
});

/** Each loads its script, then prints what the shell would offer, a word on each line. */
const SHELLS = {
  bash: (script: string, typed: readonly string[]) => [
    "--norc",
    "-c",
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _brokerctl; printf "%s\\n" "${COMPREPLY[@]}"',
    "bash",
    script,
    "brokerctl",
    ...typed,
  ],
  // Its own machinery works in a terminal only: what the script hands to it is printed instead.
  zsh: (script: string, typed: readonly string[]) => [
    "-f",
    "-c",
    `compdef() { :; }; _files() { print -l *(N); }; _describe() { print -l -- "\${(@)\${(@P)2}%%:*}"; }
source "$1"; shift; words=("$@"); CURRENT=$#; _brokerctl`,
    "zsh",
    script,
    "brokerctl",
    ...typed,
  ],
  fish: (script: string, typed: readonly string[]) => [
    "--no-config",
    "-c",
    "source $argv[1]; complete -C (string join ' ' -- $argv[2..-1]) | string replace -r '\\t.*' ''; true",
    script,
    "brokerctl",
    ...typed,
  ],
};

describe.each(["bash", "zsh", "fish"] as const)("in %s", (name) => {
  const isThere = spawnSync(name, ["-c", "true"]).status === 0;

  test.skipIf(!isThere).each([
    { typed: ["get", "re"], offers: ["reservations", "requests"] },
    { typed: ["get", "clusters", "-o", "j"], offers: ["json"] },
    { typed: ["get", "clusters", "--broker", ""], offers: [] },
    { typed: ["backup", ""], offers: ["copy of ledger.db"] },
  ])("$typed offers $offers", async ({ typed, offers }) => {
    const cwd = await temporaryFolder(onTestFinished);
    const script = join(await temporaryFolder(onTestFinished), "script");
    await writeFile(script, (await runCli(["completion", name])).out);
    await writeFile(join(cwd, "copy of ledger.db"), "");
    const env = { ...process.env, PATH: `${BIN}:${process.env["PATH"] ?? ""}` };
    const { stdout, stderr } = await execute(name, SHELLS[name](script, typed), { cwd, env });
    const offered = stdout.split("\n").filter((word) => word !== "");
    expect({ stderr, offered: offered.map((word) => word.replaceAll("\\ ", " ")) }).toEqual({
      stderr: "",
      offered: offers,
    });
  });
});
