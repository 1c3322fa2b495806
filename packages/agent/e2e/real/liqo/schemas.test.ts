import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import {
  type ControlPlanes,
  controlPlaneAssets,
  type FakeLiqo,
  fakeLiqo,
  installedLiqo,
  liqoAssets,
  liqoDeployment,
  realControlPlanes,
  simulatedControlPlanes,
  until,
  type WorldCluster,
  worldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import type { DeliverySpec } from "../../../src/data-plane/data-plane.ts";
import { type LiqoRequester, liqoRequester } from "../../../src/liqo/liqo-data-plane.ts";
import { kubeconfigFolder } from "../../../src/liqo/liqoctl/kubeconfigs.ts";
import { privateFiles } from "../../../src/liqo/liqoctl/private-file.ts";
import { RESOURCE_SLICES } from "../../../src/liqo/objects/authentication.ts";
import { statusWith } from "../../../src/liqo/provider/replica-status.ts";
import { aDeliverySpec, TERMS } from "../../../src/liqo/requester/testing/samples.ts";
import { recordedLog } from "../../../src/testing/recorded-log.ts";
import { strictClient, type Write } from "../testing/strict-client.ts";

const START_TIMEOUT_MS = 600_000;
/** Of rome and paris, in Liqo: as the loans name them. */
const [OWN_ID, LIQO_ID] = ["cool-rome", "calm-paris"];
const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
const assets = liqoAssets();

interface Place {
  readonly name: string;
  readonly isThere: boolean;
  readonly planes: () => ControlPlanes;
  readonly more: readonly JsonObject[];
}

const PLACES: readonly Place[] = [
  { name: "kube-sim", isThere: true, planes: simulatedControlPlanes, more: [] },
  {
    name: "real control planes",
    isThere: controlPlaneAssets().isThere,
    planes: realControlPlanes,
    more: [liqoDeployment()],
  },
];

const OFFLOAD = { namespaces: ["default"], podOffloadingStrategy: "Remote" } as const;
const RESERVATIONS: readonly { readonly name: string; readonly spec: DeliverySpec }[] = [
  { name: "of CPU and memory", spec: aDeliverySpec({ id: "rsv-rome-plain" }) },
  {
    name: "of everything there is, for a while and for some namespaces",
    spec: aDeliverySpec(
      {
        id: "rsv-rome-full",
        requestedResources: {
          cpu: "1500m",
          memory: "1.5Gi",
          gpu: "2",
          storage: "100G",
          extended: { "example.com/fpga": "1" },
        },
        status: { phase: "Reserved", message: "Use paris", expiresAt: "2030-01-01T00:00:00Z" },
      },
      OFFLOAD,
    ),
  },
];

describe.skipIf(assets === undefined)("Liqo's own schemas keep every field that is written", () => {
  describe.each(PLACES.filter(({ isThere }) => isThere))("on $name", ({ planes, more }) => {
    let rome: WorldCluster;
    let paris: WorldCluster;
    let liqo: FakeLiqo;
    let plane: LiqoRequester;
    /** What our agent wrote, and what the one that plays Liqo did. */
    const ours: Write[][] = [];
    const liqos: Write[][] = [];

    beforeAll(async () => {
      const running = planes();
      const folder = await mkdtemp(join(tmpdir(), "schemas-"));
      const start = async (name: string, id: string): Promise<WorldCluster> => {
        const objects = [...(assets?.definitions ?? []), ...installedLiqo(id), ...more];
        const { kubeconfig } = await running.start(name, objects);
        await writeFile(join(folder, `${name}.kubeconfig`), kubeconfig);
        return worldCluster({ name, kubeconfigFile: join(folder, name), kubeconfig });
      };
      [rome, paris] = await Promise.all([start("rome", OWN_ID), start("paris", LIQO_ID)]);
      const watched = [strictClient(rome.client), strictClient(paris.client)] as const;
      liqos.push(...watched.map(({ writes }) => writes));
      liqo = fakeLiqo({
        sites: [
          { id: OWN_ID, client: watched[0].client },
          { id: LIQO_ID, client: watched[1].client },
        ],
      });
      liqo.behave({ grants: (asked) => asked });
      await liqo.start();
      const own = strictClient(rome.client);
      ours.push(own.writes);
      plane = dataPlaneOn(own.client, folder, liqo);
      return async () => {
        await plane.stop();
        await liqo.stop();
        rome.client.close();
        paris.client.close();
        await running.stop();
        await rm(folder, { recursive: true });
      };
    }, START_TIMEOUT_MS);

    const dataPlaneOn = (
      client: WorldCluster["client"],
      folder: string,
      { liqoctl }: FakeLiqo,
    ): LiqoRequester =>
      liqoRequester(
        {
          ...TERMS,
          clusterId: "rome",
          liqoNamespace: "liqo",
          gatewayType: "NodePort",
          hasNetworking: true,
          timeoutMs: 60_000,
          ownAccess: {},
        },
        {
          client,
          connect: async () => ({ ...paris.client, close: () => undefined }),
          kubeconfigs: kubeconfigFolder(folder),
          withFile: privateFiles({}).withFile,
          run: liqoctl.run,
          clock,
          log: recordedLog([]),
        },
      );

    test.each(RESERVATIONS)("a reservation $name", async ({ spec }) => {
      await until("it is ready", async () => {
        const state = await plane.establish(spec);
        if (state.kind === "ready") return state;
        throw new Error(`${state.reason}: ${state.message}`);
      });
      const { id } = spec.reservation;
      await until("it is gone", async () => {
        const state = await plane.release(id);
        if (state.kind === "clean") return state;
        throw new Error(`${state.reason}: ${state.message}`);
      });
      expect(ours.flat().map(({ what }) => what)).toContain(`create ResourceSlice ${id}`);
      expect(ours.flat().filter(({ lost }) => lost.length > 0)).toEqual([]);
    });

    test("the provider's word about a replica", async () => {
      const { client, writes } = strictClient(paris.client);
      const slice = {
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "ResourceSlice",
        metadata: { name: "rsv-word", namespace: "default", labels: { "liqo.io/replicated": "true" } },
        spec: { class: "resource-broker", consumerClusterID: OWN_ID, resources: { cpu: "2" } },
      };
      const made = await client.create(RESOURCE_SLICES, slice);
      for (const status of ["Accepted", "Denied"] as const) {
        const word = { status, reason: "Because", message: "of a word", resources: { cpu: "2" } };
        const newest = await client.get(RESOURCE_SLICES, made.metadata);
        const shown = statusWith(newest, word, clock.wallMs());
        await client.update(
          RESOURCE_SLICES,
          { ...newest, ...(shown && { status: shown }) },
          { subresource: "status" },
        );
      }
      expect(writes).toHaveLength(3);
      expect(writes.filter(({ lost }) => lost.length > 0)).toEqual([]);
    });

    test("and whoever plays Liqo writes nothing that Liqo could not", () => {
      const kinds = new Set(liqos.flat().map(({ what }) => what.split(" ")[1]));
      expect([...kinds]).toEqual(
        expect.arrayContaining([
          "ForeignCluster",
          "Identity",
          "Quota",
          "ResourceSlice",
          "Tenant",
          "VirtualNode",
        ]),
      );
      expect(liqos.flat().filter(({ lost }) => lost.length > 0)).toEqual([]);
    });
  });
});
