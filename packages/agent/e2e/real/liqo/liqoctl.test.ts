import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@resource-broker/kube-sim";
import {
  controlPlaneAssets,
  installedLiqo,
  liqoAssets,
  liqoDeployment,
  realControlPlanes,
  simulatedControlPlanes,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { foreignText } from "../../../src/liqo/liqoctl/foreign-kubeconfig.ts";
import { kubeconfigFolder } from "../../../src/liqo/liqoctl/kubeconfigs.ts";
import {
  forceUnpeerArguments,
  type GatewayType,
  liqoctl,
  peerArguments,
  type RunResult,
  shownOutput,
  unauthenticateArguments,
  unpeerArguments,
} from "../../../src/liqo/liqoctl/run-liqoctl.ts";
import { accessTo } from "../../../src/liqo/requester/testing/samples.ts";

const assets = liqoAssets();
const START_TIMEOUT_MS = 600_000;
/** Only a guard: it ends by itself, sooner. */
const RUN_MS = 60_000;

const env = { HOME: "/nowhere", PATH: "" };
const run = (args: readonly string[]): Promise<RunResult> =>
  liqoctl({ path: assets?.pathOf("liqoctl") ?? "", env })(args, {
    timeoutMs: RUN_MS,
    signal: new AbortController().signal,
  });

const NOWHERE = { kubeconfig: "/nowhere/rome.kubeconfig" };
const PEERING = {
  local: NOWHERE,
  remoteKubeconfig: "/nowhere/paris.kubeconfig",
  liqoNamespace: "liqo",
  timeoutMs: 600_000,
};

describe.skipIf(assets === undefined)("the real liqoctl", () => {
  const gateways: readonly GatewayType[] = ["NodePort", "LoadBalancer", "ClusterIP"];
  const ours: readonly { readonly name: string; readonly args: readonly string[] }[] = [
    ...gateways.map((gatewayType) => ({
      name: `peer through a ${gatewayType}`,
      args: peerArguments({ ...PEERING, gatewayType, hasNetworking: true }),
    })),
    {
      name: "peer without a network",
      args: peerArguments({ ...PEERING, gatewayType: "NodePort", hasNetworking: false }),
    },
    {
      name: "peer from a context",
      args: peerArguments({
        ...PEERING,
        local: { ...NOWHERE, context: "rome" },
        gatewayType: "NodePort",
        hasNetworking: true,
      }),
    },
    { name: "unpeer", args: unpeerArguments(PEERING) },
    { name: "unauthenticate", args: unauthenticateArguments(PEERING) },
    { name: "force unpeer", args: forceUnpeerArguments("liqo-paris", NOWHERE) },
  ];
  test.each(ours)("takes our line: $name", async ({ args }) => {
    const { code, output } = await run(args);
    expect(shownOutput(output)).toBe("ERRO: error: stat /nowhere/rome.kubeconfig: no such file or directory");
    expect(code).toBe(1);
  });

  test("says its version", async () => {
    expect(await run(["version", "--client"])).toMatchObject({
      code: 0,
      output: expect.stringContaining("v1."),
    });
  });

  test("that would ask a question is ended, and nobody waits for it", async () => {
    const stop = new AbortController();
    const path = assets?.pathOf("liqoctl") ?? "";
    const asking = liqoctl({ path, env })(["force", "unpeer", "liqo-paris"], {
      timeoutMs: 2000,
      signal: stop.signal,
    });
    // Without --skip-confirm it asks for ever, and does not end when it is asked to.
    expect((await asking).code).toBeUndefined();
  });

  describe("given a kubeconfig that runs a program through a merge key", () => {
    const hostile = (program: string): string =>
      [
        "apiVersion: v1",
        "kind: Config",
        "current-context: c",
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]",
        "contexts: [{name: c, context: {cluster: c, user: u}}]",
        `x: &x {exec: {apiVersion: client.authentication.k8s.io/v1, command: ${program}, interactiveMode: Never}}`,
        "users: [{name: u, user: {<<: *x}}]",
      ].join("\n");
    let folder = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "hostile-kubeconfig-"));
      const program = join(folder, "program.sh");
      await writeFile(program, `#!/bin/sh\n: > ${join(folder, "it-ran")}\nexit 1\n`, { mode: 0o700 });
      await writeFile(join(folder, "paris.kubeconfig"), hostile(program));
      return () => rm(folder, { recursive: true });
    });
    const hasRun = (): boolean => existsSync(join(folder, "it-ran"));

    test("is not started at all", async () => {
      const found = await kubeconfigFolder(folder).of("paris");
      expect(found).toMatchObject({ kind: "refused", reason: "KubeconfigRefused" });
      expect(hasRun()).toBe(false);
    });

    test("takes the file that is written from what was understood, and would have run it from the other", async () => {
      const written = async (port: number): Promise<string> => {
        const file = join(folder, String(port));
        await writeFile(file, foreignText(accessTo(`127.0.0.1:${port}`)));
        return file;
      };
      const both = { ...PEERING, remoteKubeconfig: await written(2) };
      const { output } = await run(unpeerArguments({ ...both, local: { kubeconfig: await written(3) } }));
      expect(output).toMatch(/127\.0\.0\.1:3/);
      expect(hasRun()).toBe(false);
      await run(unpeerArguments({ ...both, local: { kubeconfig: join(folder, "paris.kubeconfig") } }));
      expect(hasRun()).toBe(true);
    });
  });

  const isReal = controlPlaneAssets().isThere;
  describe(`on ${isReal ? "real control planes" : "kube-sim"}`, () => {
    let folder = "";
    const file = (name: string): string => join(folder, `${name}.kubeconfig`);

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "real-liqoctl-"));
      const running = isReal ? realControlPlanes() : simulatedControlPlanes();
      const more = isReal ? [liqoDeployment()] : [];
      const definitions = assets?.definitions ?? [];
      const start = async (name: string, objects: readonly JsonObject[]): Promise<void> => {
        const { kubeconfig } = await running.start(name, objects);
        await writeFile(file(name), kubeconfig);
      };
      await start("rome", [...definitions, ...installedLiqo("liqo-rome"), ...more]);
      await start("paris", [...definitions, ...installedLiqo("liqo-paris"), ...more]);
      await start("oslo", definitions);
      return async () => {
        await running.stop();
        await rm(folder, { recursive: true });
      };
    }, START_TIMEOUT_MS);

    const peering = (remote: string, timeoutMs = RUN_MS / 2) => ({
      local: { kubeconfig: file("rome") },
      remoteKubeconfig: file(remote),
      liqoNamespace: "liqo",
      timeoutMs,
    });
    const failures: readonly {
      readonly name: string;
      readonly args: () => string[];
      readonly shows: RegExp;
    }[] = [
      {
        name: "peering with a cluster without Liqo",
        args: () => peerArguments({ ...peering("oslo"), gatewayType: "NodePort", hasNetworking: false }),
        shows: /cluster id/i,
      },
      {
        name: "peering where no controller of Liqo answers",
        // It waits for one as long as it is told to.
        args: () =>
          peerArguments({ ...peering("paris", 5000), gatewayType: "NodePort", hasNetworking: false }),
        shows: /nonce|deadline|timed out|context/i,
      },
      {
        name: "peering with itself",
        args: () => peerArguments({ ...peering("rome"), gatewayType: "NodePort", hasNetworking: true }),
        shows: /local and remote clusters must be different/,
      },
      {
        name: "unpeering where nothing is peered",
        args: () => unpeerArguments(peering("paris")),
        shows: /not found/i,
      },
      {
        name: "giving up a cluster that nobody knows",
        args: () => forceUnpeerArguments("liqo-tokyo", { kubeconfig: file("rome") }),
        shows: /not found.*liqo-tokyo/,
      },
    ];
    test.each(failures)("$name fails, and its last words say why", async ({ args, shows }) => {
      const { code, output } = await run(args());
      const shown = shownOutput(output);
      expect(shown).toMatch(shows);
      // Fit for a status: no colours, no spinners, no credentials.
      // oxlint-disable-next-line no-control-regex -- they are what must not be there
      expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
      expect(shown).not.toMatch(/BEGIN |token/i);
      expect(code).toBe(1);
    });
  });
});
