import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  EXIT_NOT_FOUND,
  forceUnpeerArguments,
  liqoctl,
  type PeerOptions,
  peerArguments,
  shownOutput,
  unpeerArguments,
} from "./run-liqoctl.ts";

const folder = await mkdtemp(join(tmpdir(), "liqoctl-"));
afterAll(() => rm(folder, { recursive: true }));

async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const env = { PATH: "/usr/bin:/bin", GREETING: "hello" };
const run = (path: string, args: readonly string[] = [], signal = new AbortController().signal) =>
  liqoctl({ path, env })(args, { timeoutMs: 20_000, signal });

describe("liqoctl", () => {
  test("gets its arguments as they are: no shell reads them", async () => {
    const echo = await program("echo", 'for a in "$@"; do echo "[$a]"; done; echo "$GREETING $NO_COLOR" >&2');
    const { code, output } = await run(echo, ["peer", "$(ls) ; rm -rf /", "a  b"]);
    expect(code).toBe(0);
    expect(output.trim().split("\n")).toEqual(["[peer]", "[$(ls) ; rm -rf /]", "[a  b]", "", "hello 1"]);
  });

  test("that fails says so with its code and what it printed", async () => {
    const failing = await program("failing", "echo broken >&2; exit 3");
    expect(await run(failing)).toEqual({ code: 3, output: "\nbroken\n" });
  });

  test("that hangs is ended by the signal", async () => {
    const hanging = await program("hanging", "echo begun; exec sleep 600");
    const ending = new AbortController();
    const running = run(hanging, [], ending.signal);
    ending.abort();
    expect(await running).toMatchObject({ code: undefined });
  });

  test("that prints without end is not stopped, and its last words are kept", async () => {
    const loud = await program("loud", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last >&2; exit 4");
    const { code, output } = await run(loud);
    expect(code).toBe(4);
    expect(output.endsWith("last\n")).toBe(true);
    expect(output.length).toBeLessThan(200_000);
  });

  test("that asks something gets no answer, and ends", async () => {
    const asking = await program("asking", 'read answer; echo "[$answer]"');
    expect(await run(asking)).toMatchObject({ code: 0, output: "[]\n\n" });
  });

  test("that is not there is reported with the remedy", async () => {
    expect(await run(join(folder, "nothing"))).toEqual({
      code: EXIT_NOT_FOUND,
      output: expect.stringContaining("--liqoctl"),
    });
  });
});

const OPTIONS: PeerOptions = {
  local: { kubeconfig: "/k/rome.kubeconfig" },
  remoteKubeconfig: "/k/paris.kubeconfig",
  liqoNamespace: "liqo",
  timeoutMs: 600_000,
  gatewayType: "NodePort",
  hasNetworking: true,
};

describe("the arguments of liqoctl", () => {
  const BOTH = [
    "--remote-kubeconfig=/k/paris.kubeconfig",
    "--namespace=liqo",
    "--remote-namespace=liqo",
    "--timeout=10m",
  ];
  const ALONE = ["--create-resource-slice=false", "--create-virtual-node=false"];
  const OWN = "--kubeconfig=/k/rome.kubeconfig";
  const unpeer = (local: PeerOptions["local"]) => unpeerArguments({ ...OPTIONS, local });
  test.each<[string, string[], string[]]>([
    [
      "peer the two clusters, without a slice of liqoctl's own",
      peerArguments(OPTIONS),
      ["peer", OWN, ...BOTH, ...ALONE, "--gw-server-service-type=NodePort"],
    ],
    [
      "leave the gateway out where networking is off",
      peerArguments({ ...OPTIONS, hasNetworking: false }),
      ["peer", OWN, ...BOTH, ...ALONE, "--networking-disabled=true"],
    ],
    ["find the own cluster in a pod", unpeer({}), ["unpeer", ...BOTH]],
    ["find it by a context", unpeer({ context: "rome" }), ["unpeer", "--context=rome", ...BOTH]],
    [
      "find it by a file and a context",
      unpeer({ kubeconfig: "k", context: "rome" }),
      ["unpeer", "--kubeconfig=k", "--context=rome", ...BOTH],
    ],
    [
      "unpeer by force when the provider is gone",
      forceUnpeerArguments("calm-paris", OPTIONS.local),
      ["force", "unpeer", OWN, "--skip-confirm", "calm-paris"],
    ],
  ])("%s", (_, args, expected) => {
    expect(args).toEqual(expected);
  });
});

describe("what liqoctl printed", () => {
  test.each([
    [
      "without colours",
      "\u001b[31m ERRO \u001b[0m unable to ensure networking",
      "ERRO  unable to ensure networking",
    ],
    ["with a spinner's last form only", "⠋ Waiting (0s)\r⠙ Waiting (1s)\rINFO Done\r\n", "INFO Done"],
    ["without empty lines", "\n\na\n  \nb\n", "a\nb"],
    [
      "without secrets",
      "token: abcdefghijklmnop\nclient-key-data: QUJDREVGR0g=\nBearer eyJhbGciOiJSUzI1NiJ9.abc.def",
      "(left out)\nclient-key(left out)\nBearer (left out)",
    ],
    [
      "without the ways that secrets are written elsewhere",
      [
        "Authorization: Bearer abcdef0123456789abcdef",
        "dial https://admin:hunter2hunter2@paris:6443: refused",
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn1ygWyF8PbnGy0AHB7MmC2b6aJ1pQ0bKcX",
        "q1o=",
        "-----END RSA PRIVATE KEY-----",
        "ERRO unable to sign in",
      ].join("\n"),
      "Authorization: Bearer (left out)\ndial https://(left out)@paris:6443: refused\n(left out)\nERRO unable to sign in",
    ],
  ])("is shown %s", (_, output, expected) => {
    expect(shownOutput(output)).toBe(expected);
  });

  test("is cut from the front: its end says why it failed", () => {
    const output = Array.from({ length: 1000 }, (_, index) => `line ${index} ${"x".repeat(200)}`).join("\n");
    const shown = shownOutput(`${output}\nERRO timed out`);
    expect(shown.endsWith("ERRO timed out")).toBe(true);
    expect(shown.length).toBeLessThan(1300);
  });
});
