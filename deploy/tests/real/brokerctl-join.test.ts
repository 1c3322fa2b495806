import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { formatToken, JOIN_SECRET } from "@resource-broker/contract";
import {
  controlPlaneAssets,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../generate/files.ts";
import { deployAssetsFolder, whyNoHelm } from "../testing/helm.ts";

const START_TIMEOUT_MS = 600_000;
const TOKEN = { id: "k3u7dq2hvm", secret: "A".repeat(43) };
const MANIFEST = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: JOIN_SECRET.name, namespace: "rear-agent" },
  stringData: {
    [JOIN_SECRET.clusterId]: "rome",
    [JOIN_SECRET.token]: formatToken(TOKEN),
    [JOIN_SECRET.brokerUrls]: "https://broker.example.org:9443",
    [JOIN_SECRET.caHashes]: "ab".repeat(32),
  },
};
const READY = { status: { observedGeneration: 100, replicas: 1, updatedReplicas: 1, readyReplicas: 1 } };

describe.skipIf(!controlPlaneAssets().isThere || whyNoHelm() !== undefined)(
  "brokerctl join with a real helm",
  () => {
    let plane: RealControlPlane;
    let folder: string;
    const kubectl = async (...args: readonly string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await plane.kubectl(args);
      if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    const run = (program: string, args: readonly string[]) =>
      promisify(execFile)(program, args, {
        cwd: folder,
        env: {
          HOME: folder,
          KUBECONFIG: join(folder, "kubeconfig"),
          PATH: `${deployAssetsFolder()}:${dirname(process.execPath)}:/usr/bin:/bin`,
        },
      });
    /** Nobody runs pods here: the test says that they are Ready. */
    const joinCluster = async (...more: readonly string[]): Promise<string> => {
      const args = [
        join(ROOT, "apps/cli/bin/brokerctl.mjs"),
        "join",
        "-f",
        "invitation.json",
        "--yes",
        ...more,
      ];
      const joining = run(process.execPath, [...args, "--timeout", "2m"]);
      const ready = until("the agent is installed", async () => {
        const patch = ["--subresource=status", "--type=merge", "-p", JSON.stringify(READY)];
        const { exitCode } = await plane.kubectl([
          "-n",
          "rear-agent",
          "patch",
          "deployment",
          "resource-broker-agent",
          ...patch,
        ]);
        return exitCode === 0 ? true : undefined;
      });
      const [{ stderr }] = await Promise.all([joining, ready]);
      return stderr;
    };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "brokerctl-join-"));
      plane = await startControlPlane({ name: "join" });
      await writeFile(join(folder, "kubeconfig"), plane.kubeconfig, { mode: 0o600 });
      await writeFile(join(folder, "invitation.json"), JSON.stringify(MANIFEST), { mode: 0o600 });
    }, START_TIMEOUT_MS);
    afterAll(async () => {
      await plane.dispose();
      await rm(folder, { recursive: true, force: true });
    });

    test("installs the agent, again as an upgrade, and the token is in one Secret only", async () => {
      expect(await joinCluster("--set", "liqo.warmPeers={paris,tokyo},log.level=debug")).toContain(
        "rome has joined",
      );
      const labels = await kubectl("get", "namespace", "rear-agent", "-o", "jsonpath={.metadata.labels}");
      expect(labels).toContain('"pod-security.kubernetes.io/enforce":"restricted"');
      const args = await kubectl(
        "-n",
        "rear-agent",
        "get",
        "deployment",
        "resource-broker-agent",
        "-o",
        "jsonpath={.spec.template.spec.containers[0].args}",
      );
      expect(args).toContain("--join-secret=rear-agent/resource-broker-join");
      const policies = await kubectl("-n", "rear-agent", "get", "networkpolicies", "-o", "json");
      expect(policies).toContain("9443");
      expect(await joinCluster()).toContain("rome has joined");
      const { stdout } = await run("helm", [
        "-n",
        "rear-agent",
        "history",
        "resource-broker-agent",
        "-o",
        "json",
      ]);
      expect((JSON.parse(stdout) as unknown[]).length).toBe(2);
      const release = await run("helm", ["-n", "rear-agent", "get", "all", "resource-broker-agent"]);
      expect(release.stdout).not.toContain(TOKEN.secret);
      expect(release.stdout).toContain("--log-level=debug");
      expect(
        await kubectl("-n", "rear-agent", "get", "secret", JOIN_SECRET.name, "-o", "jsonpath={.data.token}"),
      ).toBe(Buffer.from(formatToken(TOKEN)).toString("base64"));
    });
  },
);
