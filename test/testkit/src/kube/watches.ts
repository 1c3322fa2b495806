import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { CONFIG_MAPS, type ConfigMap, type KubeClient, PODS, type Resource } from "@resource-broker/kube";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, listed, promise, type Setup } from "./kube-promise.ts";
import { pod } from "./shapes.ts";
import { startWatch, type WatchHandle } from "./start-watch.ts";

/** Where a watch can begin: now. */
async function versionNow(
  client: KubeClient,
  resource: Resource<unknown>,
  namespace: string,
): Promise<string> {
  return (await client.list(resource, { namespace }, () => undefined)).resourceVersion;
}

/** `ADDED one` */
async function nextName<T extends { readonly metadata?: { readonly name?: string } }>(
  watch: WatchHandle<T>,
): Promise<string> {
  const event = await watch.next();
  return event === undefined ? "the end" : `${event.type} ${event.object.metadata?.name}`;
}

async function label({ client, ...setup }: Setup, name: string, tier: string): Promise<ConfigMap> {
  const body = { metadata: { labels: { tier } } };
  return client.patch(CONFIG_MAPS, { name: setup.in(name), patch: { kind: "merge", body } });
}

/** Long enough for a server to send the bookmark that it sends before the end. */
const SECONDS_WITH_BOOKMARK = 6;

export const WATCHES: readonly KubePromise[] = [
  promise("a watch tells every change after its version, in order", async (setup) => {
    const { client, other, namespace } = setup;
    await client.create(CONFIG_MAPS, configMap(setup, "before"));
    const resourceVersion = await versionNow(client, CONFIG_MAPS, namespace);
    const watch = startWatch(other, CONFIG_MAPS, { namespace, resourceVersion });
    await watch.opened;
    const made = await client.create(CONFIG_MAPS, configMap(setup, "one"));
    const added = await watch.next();
    ok(added !== undefined);
    deepStrictEqual([added.type, added.object], ["ADDED", made]);
    strictEqual(added.resourceVersion, made.metadata.resourceVersion);
    const changed = await client.update(CONFIG_MAPS, { ...made, data: { a: "1" } });
    const modified = await watch.next();
    deepStrictEqual([modified?.type, modified?.object], ["MODIFIED", changed]);
    await client.delete(CONFIG_MAPS, setup.in("one"));
    const deleted = await watch.next();
    deepStrictEqual([deleted?.type, deleted?.object.metadata.name], ["DELETED", "one"]);
    ok(
      Number(deleted?.resourceVersion) > Number(changed.metadata.resourceVersion),
      "a delete has its own version",
    );
    watch.stop();
    deepStrictEqual(await watch.rest(), []);
  }),

  promise("a list and the watch from its end miss nothing, whoever writes meanwhile", async (setup) => {
    const { client, other, namespace } = setup;
    const names = Array.from({ length: 12 }, (_, index) => `map-${index}`);
    const writing = (async () => {
      for (const name of names) await other.create(CONFIG_MAPS, configMap(setup, name));
    })();
    const seen = new Set<string>();
    const query = { namespace, pageSize: 2 };
    const { resourceVersion } = await client.list(
      CONFIG_MAPS,
      query,
      ({ metadata }) => void seen.add(metadata.name),
    );
    const watch = startWatch(client, CONFIG_MAPS, { namespace, resourceVersion });
    while (!names.every((name) => seen.has(name))) {
      const event = await watch.next();
      ok(event?.type === "ADDED", "every map is added once");
      ok(!seen.has(event.object.metadata.name), `${event.object.metadata.name} comes twice`);
      seen.add(event.object.metadata.name);
    }
    watch.stop();
    await writing;
  }),

  promise("what leaves a label selection is deleted for its watch, what enters is added", async (setup) => {
    const { client, namespace } = setup;
    await client.create(CONFIG_MAPS, configMap(setup, "one"));
    const resourceVersion = await versionNow(client, CONFIG_MAPS, namespace);
    const watch = startWatch(client, CONFIG_MAPS, { namespace, resourceVersion, labelSelector: "tier=gold" });
    await label(setup, "one", "gold");
    strictEqual(await nextName(watch), "ADDED one");
    const left = await label(setup, "one", "silver");
    const event = await watch.next();
    deepStrictEqual([event?.type, event?.object.metadata.labels], ["DELETED", { tier: "gold" }]);
    strictEqual(event?.resourceVersion, left.metadata.resourceVersion);
    await label(setup, "one", "bronze");
    await label(setup, "one", "gold");
    strictEqual(await nextName(watch), "ADDED one");
    await client.delete(CONFIG_MAPS, setup.in("one"));
    strictEqual(await nextName(watch), "DELETED one");
    watch.stop();
  }),

  promise("a watch of a field selection does so too, in protobuf", async (setup) => {
    const { client, namespace } = setup;
    const resourceVersion = await versionNow(client, PODS, namespace);
    const fieldSelector = "status.phase=Running";
    const watch = startWatch(client, PODS, { namespace, resourceVersion, fieldSelector });
    await client.create(PODS, pod(setup, "one"));
    const report = (phase: string) =>
      client.patch(
        PODS,
        { name: setup.in("one"), patch: { kind: "merge", body: { status: { phase } } } },
        { subresource: "status" },
      );
    await report("Running");
    strictEqual(await nextName(watch), "ADDED one");
    await report("Failed");
    strictEqual(await nextName(watch), "DELETED one");
    watch.stop();
  }),

  promise("a watch ends quietly when its time is over", async ({ client, namespace }) => {
    const resourceVersion = await versionNow(client, CONFIG_MAPS, namespace);
    const watch = startWatch(client, CONFIG_MAPS, { namespace, resourceVersion, timeoutSeconds: 1 });
    await watch.opened;
    strictEqual(await watch.next(), undefined);
  }),

  promise("a watch that has nothing to tell is sent a bookmark before its time is over", async (setup) => {
    const { client, namespace } = setup;
    const from = await versionNow(client, CONFIG_MAPS, namespace);
    const query = { namespace, resourceVersion: from, timeoutSeconds: SECONDS_WITH_BOOKMARK };
    const watch = startWatch(client, CONFIG_MAPS, query);
    await watch.opened;
    // Elsewhere the world goes on: that is what bookmarks are for.
    await client.create(CONFIG_MAPS, { metadata: { name: setup.unique("aside"), namespace: "default" } });
    const events = await watch.rest();
    const [bookmark] = events;
    ok(events.length > 0 && events.every(({ type }) => type === "BOOKMARK"), JSON.stringify(events));
    ok(Number(bookmark?.resourceVersion) > Number(from), "the bookmark is newer than the watch");
    const next = startWatch(client, CONFIG_MAPS, {
      namespace,
      resourceVersion: bookmark?.resourceVersion ?? "",
    });
    await client.create(CONFIG_MAPS, configMap(setup, "one"));
    strictEqual(await nextName(next), "ADDED one");
    next.stop();
  }),

  promise("a watch from a version that was forgotten says gone", async (setup) => {
    const { client, namespace, compact } = setup;
    const resourceVersion = await versionNow(client, CONFIG_MAPS, namespace);
    for (let count = 0; count < 3; count++)
      await client.create(CONFIG_MAPS, configMap(setup, `map-${count}`));
    await compact();
    await refused(startWatch(client, CONFIG_MAPS, { namespace, resourceVersion }).next(), "gone");
    await refused(startWatch(client, PODS, { namespace, resourceVersion }).next(), "gone");
  }),

  promise("the next page of a list whose version was forgotten says gone", async (setup) => {
    const { client, namespace, compact } = setup;
    for (let count = 0; count < 4; count++)
      await client.create(CONFIG_MAPS, configMap(setup, `map-${count}`));
    const path = `/api/v1/namespaces/${namespace}/configmaps?limit=2`;
    const page = (await client.read(path)) as { readonly metadata: { readonly continue: string } };
    await client.create(CONFIG_MAPS, configMap(setup, "later"));
    await compact();
    const next = client.read(`${path}&continue=${encodeURIComponent(page.metadata.continue)}`);
    await refused(next, "gone", /continue parameter is too old|too old/u);
    strictEqual((await listed(client, CONFIG_MAPS, { namespace, labelSelector: "!none" })).length >= 5, true);
  }),
];
