import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { controlPlaneAssets, until } from "@resource-broker/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { DEPLOY_ASSETS } from "../../../tools/deploy-assets/assets.ts";
import { findAssets } from "../../../tools/go-assets/assets-tool.ts";
import { expectDone, runScript, SETUP, stateFolder } from "../testing/scripts.ts";

const programs = controlPlaneAssets();
const definitions = findAssets(DEPLOY_ASSETS, process.env);
if (!definitions.isThere) {
  process.stderr.write(
    "The check of certificates against cert-manager's schemas is SKIPPED: npm run deploy:assets\n",
  );
}

describe.skipIf(!programs.isThere)("on real API servers", () => {
  const folder = stateFolder();
  const flags = ["--on", "real", "--state", folder.path];
  afterAll(() => folder.dispose("real"));

  const kubectl = (...args: readonly string[]): string => {
    const kubeconfig = join(folder.path, "real/kubeconfigs/broker-cluster.yaml");
    const program = programs.isThere ? programs.pathOf("kubectl") : "";
    const end = spawnSync(program, ["--kubeconfig", kubeconfig, ...args], { encoding: "utf8" });
    if (end.status !== 0) throw new Error(`kubectl ${args.join(" ")} says: ${end.stderr}`);
    return end.stdout + end.stderr;
  };

  test("from nothing, the whole way", async () => {
    const end = await runScript("test-reservation.sh", [...flags, "--keep"]);
    expectDone(end);
    expect(end.stdout.match(/^PASS {2}/gm)).toHaveLength(15);
  });

  test.skipIf(!definitions.isThere)(
    "cert-manager's own schemas take what kind's cert-manager is given",
    async () => {
      kubectl("apply", "--server-side", "-f", join(definitions.folder, "cert-manager"));
      kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
      // An established definition is served a moment later.
      await until("they are served", async () => kubectl("get", "clusterissuers,certificates"));
      kubectl("create", "namespace", "cert-manager");
      const strictly = ["apply", "--server-side", "--dry-run=server", "--validate=strict"];
      const output =
        kubectl(...strictly, "-k", join(SETUP, "../deploy/kustomize/certmanager")) +
        kubectl(...strictly, "-f", join(SETUP, "manifests/agent-certificates.yaml"));
      expect(output.match(/^\S+ serverside-applied \(server dry run\)$/gm)).toHaveLength(11);
      expect(output).not.toMatch(/warning/i);
    },
  );

  test("and nothing is left of it", async () => {
    expectDone(await runScript("cleanup.sh", flags));
    expect(folder.processes()).toEqual([]);
    expect(folder.isThere()).toBe(false);
  });
});
