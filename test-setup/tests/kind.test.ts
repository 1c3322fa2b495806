import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { expectDone, runScript, SETUP, type StateFolder, stateFolder } from "./testing/scripts.ts";

/** They write down how they are called, and do what the scripts rely on. */
const STAND_INS = {
  docker: "exit 0",
  // What "get" finds: the file named by HAS holds one name a line.
  kubectl: `
    case " $* " in
      *" get --raw /readyz "*) [ ! -e "$ENDED" ] ;;
      *" get deployment "*|*" get secret "*) for word in $*; do grep -qx -- "$word" "$HAS" && exit 0; done; exit 1 ;;
      *" -f - ") cat >/dev/null ;;
    esac
    [ $? = 0 ] && echo serverside-applied`,
  kind: `
    case "$1 $2" in
      "get clusters") cat "$THERE" ;;
      "create cluster"|"export kubeconfig") while [ $# -gt 0 ]; do [ "$1" != --kubeconfig ] || echo x >"$2"; shift; done ;;
    esac`,
};

describe("on kind", () => {
  let folder: StateFolder;
  let programs: string;
  let env: Record<string, string>;

  beforeEach(() => {
    folder = stateFolder();
    programs = `${folder.path}-programs`;
    mkdirSync(programs);
    for (const [name, body] of Object.entries(STAND_INS)) {
      writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >>"$CALLS"\n${body}\n`);
      chmodSync(join(programs, name), 0o755);
    }
    env = {
      PATH: `${programs}:${process.env["PATH"] ?? ""}`,
      CALLS: join(programs, "calls"),
      THERE: join(programs, "there"),
      HAS: join(programs, "has"),
      ENDED: join(programs, "ended"),
    };
    writeFileSync(join(programs, "has"), "");
    writeFileSync(join(programs, "there"), "");
  });
  afterEach(async () => {
    rmSync(join(folder.path, "kind"), { recursive: true, force: true });
    await folder.dispose("kind");
  });

  const calls = (start: string): string[] =>
    readFileSync(join(programs, "calls"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith(start))
      .map((line) => line.replaceAll(folder.path, "STATE"));
  const run = (name: string, ...flags: readonly string[]) =>
    runScript(name, ["--state", folder.path, ...flags], env);

  test("uses a cluster that was there before, and leaves it there", async () => {
    writeFileSync(join(programs, "there"), "agent-cluster-1\nagent-cluster-22\n");
    const made = await run("setup-clusters.sh");
    expect(made.stdout).toContain("agent-cluster-1: is there already");
    expect(calls("kind create")).toHaveLength(2);
    await run("cleanup.sh");
    expect(calls("kind delete").map((line) => line.split(" ")[4])).toEqual([
      "broker-cluster",
      "agent-cluster-2",
    ]);
  });

  test("clusters that have ended with their engine are not taken as there, and made again without what was theirs", async () => {
    await run("setup-clusters.sh");
    const certificates = join(folder.path, "kind/certs/broker");
    mkdirSync(certificates, { recursive: true });
    writeFileSync(join(programs, "ended"), "");
    const issued = await run("setup-certmanager.sh", "--manifest", "none");
    expect(issued.stderr).toContain("the clusters are not there: run ");
    expectDone(await run("setup-clusters.sh"));
    expect(calls("kind create")).toHaveLength(6);
    expect(existsSync(certificates)).toBe(false);
  });

  test("a cluster that was made by half is removed, too", async () => {
    writeFileSync(join(programs, "kind"), '#!/bin/sh\necho "kind $*" >>"$CALLS"\n[ "$1" != create ]\n');
    expect((await run("setup-clusters.sh")).code).not.toBe(0);
    expect((await run("cleanup.sh")).code).toBe(0);
    expect(calls("kind delete").map((line) => line.split(" ")[4])).toEqual(["broker-cluster"]);
  });

  test("cert-manager is installed, and asked for certificates, before they are waited for", async () => {
    await run("setup-clusters.sh");
    const issued = await run("setup-certmanager.sh");
    expectDone(issued);
    const mine = calls("kubectl").filter((line) => /(apply|wait) .*(cert-?manager|certificates)/.test(line));
    expect(mine.map((line) => line.replace(/^.*kubectl /, ""))).toMatchObject([
      expect.stringMatching(/^apply --server-side -f https:.*\/cert-manager.yaml$/),
      expect.stringMatching(/^wait --namespace cert-manager --for=condition=Available/),
      expect.stringMatching(/^apply --server-side -k .*\/deploy\/kustomize\/certmanager$/),
      expect.stringMatching(/^apply --server-side -f .*\/manifests\/agent-certificates.yaml$/),
      expect.stringMatching(/^wait --for=condition=Ready .* certificates --all --all-namespaces$/),
    ]);
  });

  test("a cert-manager that is there already is not fetched", async () => {
    await run("setup-clusters.sh");
    writeFileSync(join(programs, "has"), "cert-manager-webhook\n");
    expectDone(await run("setup-certmanager.sh"));
    expect(calls("kubectl").filter((line) => line.includes("https:"))).toEqual([]);
  });
});

interface Certificate {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly commonName: string; readonly secretName: string };
}

test("the agents' certificates are those that deploy/ ships, but for their names", () => {
  const certificatesIn = (path: string): Certificate[] =>
    parseAllDocuments(readFileSync(join(SETUP, path), "utf8"))
      .map((document) => document.toJS() as Certificate)
      .filter(({ kind }) => kind === "Certificate");
  const [shipped] = certificatesIn("../deploy/kustomize/certmanager/agent-certificate.yaml");
  const ours = certificatesIn("manifests/agent-certificates.yaml");
  expect(ours.map(({ metadata }) => metadata.namespace)).toEqual(["agent-cluster-1", "agent-cluster-2"]);
  for (const { metadata, spec } of ours) {
    expect({ ...spec, commonName: "" }).toEqual({ ...shipped?.spec, commonName: "" });
    expect(spec.commonName).toBe(metadata.namespace);
  }
});
