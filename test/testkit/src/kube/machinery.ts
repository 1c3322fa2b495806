import { deepStrictEqual, ok, strictEqual } from "node:assert";
import {
  CONFIG_MAPS,
  EVENTS,
  eventRecorder,
  informer,
  type KubeClient,
  LEASES,
  leaderElection,
  PODS,
  type ReflectorDeps,
  reflector,
} from "@resource-broker/kube";
import type { LeaderElection } from "@resource-broker/kube/testing";
import { seededRandom } from "../broker/seeded-random.ts";
import { MACHINE_CLOCK } from "../time/machine-clock.ts";
import { until } from "../world/until.ts";
import { configMap, type KubePromise, listed, promise, type Setup } from "./kube-promise.ts";
import { NO_LOG } from "./kube-servers.ts";
import { pod } from "./shapes.ts";

const MILLION = 1_000_000;

function depsFor(client: KubeClient): ReflectorDeps {
  const { below } = seededRandom(1);
  return { client, clock: MACHINE_CLOCK, log: NO_LOG, random: () => below(MILLION) / MILLION };
}

/** Longer than a busy machine keeps a holder from renewing it. */
const LONG_LEASE = { leaseMs: 60_000, renewWithinMs: 40_000, retryMs: 50 };

function candidateFor(
  { namespace }: Setup,
  client: KubeClient,
  { identity, ...lease }: typeof LONG_LEASE & { readonly identity: string },
): LeaderElection {
  const onLead = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve());
    });
  return leaderElection({ name: "leader", namespace, identity, ...lease, onLead }, depsFor(client));
}

const leads = (who: LeaderElection) => () => Promise.resolve(who.isLeader() ? true : undefined);

export const MACHINERY: readonly KubePromise[] = [
  promise("of two candidates one leads, and the other one follows it at once", async (setup) => {
    const { client, other } = setup;
    const first = candidateFor(setup, client, { identity: "first", ...LONG_LEASE });
    const second = candidateFor(setup, other, { identity: "second", ...LONG_LEASE });
    first.start();
    await until("the first leads", leads(first));
    second.start();
    const { spec } = await client.get(LEASES, setup.in("leader"));
    deepStrictEqual([spec?.holderIdentity, spec?.leaseTransitions], ["first", 0]);
    ok(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/u.test(spec?.renewTime ?? ""),
      `${spec?.renewTime} is no time`,
    );
    strictEqual(second.isLeader(), false);
    await first.stop();
    await until("the second leads", leads(second));
    const now = await client.get(LEASES, setup.in("leader"));
    deepStrictEqual([now.spec?.holderIdentity, now.spec?.leaseTransitions], ["second", 1]);
    await second.stop();
  }),

  promise("the same event is counted up, another one is told beside it", async (setup) => {
    const { client, namespace } = setup;
    const { metadata } = await client.create(PODS, pod(setup, "one"));
    const recorder = eventRecorder({ component: "promise", instance: "promise-0" }, depsFor(client));
    const regarding = { apiVersion: "v1", kind: "Pod", name: "one", namespace, uid: metadata?.uid ?? "" };
    const tell = (reason: string) =>
      recorder.record({ regarding, type: "Normal", reason, message: `it is ${reason.toLowerCase()}` });
    const count = (reason: string, wanted: number) =>
      until(`${reason} is counted ${wanted}`, async () => {
        const [event, ...more] = await listed(client, EVENTS, {
          namespace,
          fieldSelector: `reason=${reason}`,
        });
        deepStrictEqual(more, []);
        return event?.count === wanted ? event : undefined;
      });
    tell("Greeted");
    await count("Greeted", 1);
    tell("Greeted");
    tell("Greeted");
    const greeted = await count("Greeted", 3);
    deepStrictEqual(
      [greeted.involvedObject.name, greeted.source?.component, greeted.type],
      ["one", "promise", "Normal"],
    );
    tell("Left");
    await count("Left", 1);
    await recorder.stop();
  }),

  promise("an informer keeps what is there, and tells of every change", async (setup) => {
    const { client, other, namespace } = setup;
    await client.create(
      CONFIG_MAPS,
      configMap(setup, "one", { metadata: { labels: { kept: "" } }, data: { a: "1" } }),
    );
    const resource = CONFIG_MAPS;
    const maps = informer(
      { resource, namespace, labelSelector: "kept", transform: ({ data }) => data?.["a"] ?? "" },
      depsFor(other),
    );
    const changes: string[] = [];
    maps.listen((key, now, before) => changes.push(`${key}: ${before} -> ${now}`));
    await maps.start();
    deepStrictEqual([...maps.keys()], [`${namespace}/one`]);
    const patch = (body: object) =>
      client.patch(CONFIG_MAPS, { name: setup.in("one"), patch: { kind: "merge", body } });
    await patch({ data: { a: "2" } });
    await patch({ metadata: { labels: { kept: null } } });
    await until("three changes are heard", () => Promise.resolve(changes.length === 3 ? true : undefined));
    const key = `${namespace}/one`;
    deepStrictEqual(changes, [`${key}: undefined -> 1`, `${key}: 1 -> 2`, `${key}: 2 -> undefined`]);
    await maps.stop();
  }),

  promise("a follower misses nothing when the server forgets its versions", async (setup) => {
    const { client, other, namespace, compact } = setup;
    const known = new Map<string, string>();
    const sink = {
      beginList: () => known.clear(),
      endList: () => undefined,
      put: ({ metadata }: { metadata?: { name?: string; uid?: string } }) =>
        void known.set(metadata?.name ?? "", metadata?.uid ?? ""),
      remove: ({ metadata }: { metadata?: { name?: string } }) => void known.delete(metadata?.name ?? ""),
    };
    const follower = reflector({ resource: PODS, namespace, pageSize: 2 }, sink, depsFor(other));
    for (const name of ["a", "b", "c"]) await client.create(PODS, pod(setup, name));
    await follower.start();
    await client.delete(PODS, setup.in("b"));
    await compact();
    await client.create(PODS, pod(setup, "d"));
    const wanted = async () => {
      const pods = await listed(client, PODS, { namespace });
      return new Map(pods.map(({ metadata }) => [metadata?.name ?? "", metadata?.uid ?? ""]));
    };
    await until("the follower knows what the server knows", async () => {
      deepStrictEqual(known, await wanted());
      return known.has("d") && follower.health().state === "synced" ? true : undefined;
    });
    await follower.stop();
  }),
];
