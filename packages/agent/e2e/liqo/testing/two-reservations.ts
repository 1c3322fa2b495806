import { existsSync } from "node:fs";
import { type ClusterPlan, until, type WholePod } from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { directionOf } from "./directions.ts";
import { untilClean } from "./liqo-objects.ts";
import type { LiqoWorld } from "./liqo-world.ts";
import { newScenario, type Scenario, STEPS } from "./scenario.ts";

/** Only a guard, above all that one of them waits for in turn. */
const TIMEOUT_MS = 1_800_000;

export const TWO_CLUSTERS: readonly ClusterPlan[] = [
  { name: "rome", nodes: [{ cpu: "8", memory: "32Gi", ephemeralStorage: "100Gi" }] },
  {
    name: "paris",
    nodes: [
      { cpu: "16", memory: "64Gi", ephemeralStorage: "200Gi", gpus: { count: "4", model: "NVIDIA-A100" } },
    ],
  },
];

const KUBECONFIG_FILE = /=(\/.*\/liqo-kubeconfig-[^/]+)\/kubeconfig$/;

/** Two reservations of one provider with a Liqo that we play, wherever the API servers come from. */
export function describeLiqoWay(where: string, start: () => Promise<LiqoWorld>): void {
  describe(`two reservations through a played Liqo on ${where}`, { timeout: TIMEOUT_MS }, () => {
    let world: LiqoWorld;
    let scenario: Scenario;

    beforeAll(async () => {
      world = await start();
      scenario = newScenario(directionOf(world, "rome", "paris"));
      return world.dispose;
    }, TIMEOUT_MS);

    /** What liqoctl was started with; the files it was lent, which are written anew each time, under one name. */
    const calls = (): string[][] =>
      world.liqo.liqoctl.calls.map((args) => args.map((arg) => arg.replace(KUBECONFIG_FILE, "=PRIVATE")));
    const clusterFlags = (timeout: string): string[] => [
      "--kubeconfig=PRIVATE",
      "--remote-kubeconfig=PRIVATE",
      "--namespace=liqo",
      "--remote-namespace=liqo",
      `--timeout=${timeout}`,
    ];

    test.each(STEPS.slice(0, 1))("$name", ({ expectIt }) => expectIt(scenario));

    test("liqoctl was started once, with exactly these arguments", () => {
      expect(calls()).toEqual([
        [
          "peer",
          ...clusterFlags("10m"),
          "--create-resource-slice=false",
          "--create-virtual-node=false",
          "--gw-server-service-type=NodePort",
        ],
      ]);
    });

    test("the kubeconfigs that it was lent are gone", async () => {
      const kubeconfigFiles = world.liqo.liqoctl.calls
        .flat()
        .flatMap((arg) => KUBECONFIG_FILE.exec(arg)?.[1] ?? []);
      expect(kubeconfigFiles).toHaveLength(2);
      await until(
        "they are removed",
        async () => kubeconfigFiles.every((path) => !existsSync(path)) || undefined,
      );
    });

    test.each(STEPS.slice(1))("$name", ({ expectIt }) => expectIt(scenario));

    test("liqoctl has unpeered, with exactly these arguments", async () => {
      expect(calls().slice(1)).toEqual([["unpeer", ...clusterFlags("2m")]]);
      await untilClean([world.cluster("rome"), world.cluster("paris")]);
    });
  });
}

export function podOn(nodeName: string): WholePod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "guest", namespace: "default" },
    spec: {
      nodeName,
      // There is no kubelet on a real control plane: it goes as soon as it is told to.
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: "main", image: "example/app:1", resources: { requests: { cpu: "1", memory: "1Gi" } } },
      ],
    },
  };
}
