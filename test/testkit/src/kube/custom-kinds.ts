import { deepStrictEqual, ok, strictEqual } from "node:assert";
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type KubeClient,
  type ObjectName,
  type Resource,
} from "@resource-broker/kube";
import { until } from "../world/until.ts";
import { type KubePromise, listed, namesOf, promise, refused, type Setup } from "./kube-promise.ts";
import { startWatch } from "./start-watch.ts";
import { installed, type Widget, widgetDefinition } from "./widgets.ts";

/** Until a real server serves a new kind takes it two seconds: those that only use widgets share theirs. */
const shared = new WeakMap<KubeClient, Promise<Resource<Widget>>>();

function widgetPromise(
  name: string,
  body: (setup: Setup, widgets: Resource<Widget>) => Promise<void>,
): KubePromise {
  return promise(name, async (setup) => {
    const widgets = shared.get(setup.client) ?? installed(setup, widgetDefinition("shared"));
    shared.set(setup.client, widgets);
    await body(setup, await widgets);
  });
}

function widget(metadata: Required<ObjectName>, spec: object = {}): Widget {
  return { metadata, spec: { size: "1", ...spec } };
}

/** What is wrong with a widget, and how the server says so. */
const WRONG: readonly (readonly [spec: object, field: RegExp, message: RegExp])[] = [
  [{ colour: "pink" }, /spec\.colour/u, /Unsupported value: "pink": supported values: "red", "blue"/u],
  [
    { replicas: 11 },
    /spec\.replicas/u,
    /Invalid value: 11: spec\.replicas in body should be less than or equal to 10/u,
  ],
  [{ replicas: "2" }, /spec\.replicas/u, /Invalid value: "string": .* must be of type integer: "string"/u],
  [{ code: "x" }, /spec\.code/u, /should match '\^\[A-Z\]\{3\}\$'/u],
  [{ size: "0" }, /spec\.size/u, /must be a quantity above 0/u],
  [{ size: null }, /spec\.size/u, /Required value/u],
  [{ least: 3, most: 2 }, /spec/u, /least must not be above most/u],
  [{ parts: [{ name: "a" }, { name: "a" }] }, /spec\.parts\[1\]/u, /Duplicate value: \{"name":"a"\}/u],
];

export const CUSTOM_KINDS: readonly KubePromise[] = [
  promise("a definition makes a kind appear, and takes it and its objects away", async (setup) => {
    const { client } = setup;
    const definition = widgetDefinition(setup.unique("g"));
    const widgets = await installed(setup, definition);
    const { resources } = (await client.read(`/apis/${widgets.group}/v1`)) as {
      resources: readonly { name: string }[];
    };
    deepStrictEqual(resources.map(({ name }) => name).toSorted(), ["widgets", "widgets/status"]);
    const { status } = await client.get(CUSTOM_RESOURCE_DEFINITIONS, { name: definition.metadata.name });
    const conditions = new Map(status?.conditions?.map(({ type, status: is }) => [type, is]));
    deepStrictEqual([conditions.get("NamesAccepted"), conditions.get("Established")], ["True", "True"]);
    deepStrictEqual(status?.storedVersions, ["v1"]);
    const made = await client.create(widgets, widget(setup.in("one")));
    deepStrictEqual([made.kind, made.apiVersion], ["Widget", `${widgets.group}/v1`]);
    await client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: definition.metadata.name });
    await until("the kind is not served any more", async () => {
      await refused(
        client.list(widgets, {}, () => undefined),
        "not-found",
      );
      return true;
    });
  }),

  widgetPromise(
    "defaults are filled in, on creation and on every read",
    async ({ client, ...setup }, widgets) => {
      const { spec } = await client.create(widgets, widget(setup.in("one"), { nested: {} }));
      deepStrictEqual(spec, { size: "1", replicas: 1, nested: { mode: "easy" } });
      const body = { spec: { replicas: null, nested: null } };
      const patched = await client.patch(widgets, { name: setup.in("one"), patch: { kind: "merge", body } });
      deepStrictEqual(patched.spec, { size: "1", replicas: 1 });
    },
  ),

  widgetPromise(
    "unknown fields are pruned, except where they are to be kept",
    async ({ client, ...setup }, widgets) => {
      const { spec } = await client.create(
        widgets,
        widget(setup.in("one"), { wings: 2, free: { wings: { left: 1 } } }),
      );
      deepStrictEqual(spec, { size: "1", replicas: 1, free: { wings: { left: 1 } } });
    },
  ),

  widgetPromise(
    "what breaks a rule is refused in words that name field and rule",
    async ({ client, ...setup }, widgets) => {
      for (const [spec, field, message] of WRONG) {
        await refused(client.create(widgets, widget(setup.in("wrong"), spec)), "invalid", field, message);
      }
      await refused(client.create(widgets, widget(setup.in("Wrong"))), "invalid", /metadata\.name/u);
      strictEqual((await listed(client, widgets, { namespace: setup.namespace })).length, 0);
    },
  ),

  widgetPromise("several wrong fields are all named", async ({ client, ...setup }, widgets) => {
    const call = client.create(
      widgets,
      widget(setup.in("wrong"), { colour: "pink", replicas: 11, code: "x" }),
    );
    await refused(call, "invalid", /spec\.colour/u, /spec\.replicas/u, /spec\.code/u);
  }),

  widgetPromise("a rule may forbid a change", async ({ client, ...setup }, widgets) => {
    const made = await client.create(widgets, widget(setup.in("one"), { serial: "a" }));
    const changed = client.update(widgets, { ...made, spec: { ...made.spec, serial: "b" } });
    await refused(changed, "invalid", /spec\.serial/u, /serial cannot be changed/u);
  }),

  widgetPromise(
    "status is written on its own path, and generation counts the rest",
    async ({ client, ...setup }, widgets) => {
      const early = { ...widget(setup.in("one")), status: { phase: "Early" } };
      const made = await client.create(widgets, early);
      deepStrictEqual([made.status, made.metadata.generation], [undefined, 1]);
      const condition = {
        type: "Ready",
        status: "True",
        reason: "Tested",
        message: "",
        lastTransitionTime: "2026-01-05T12:00:00Z",
      };
      const status = { phase: "Ready", observedGeneration: 1, conditions: [condition] };
      const reported = await client.update(
        widgets,
        { ...made, spec: { size: "9" }, status },
        { subresource: "status" },
      );
      deepStrictEqual([reported.status, reported.metadata.generation], [status, 1]);
      strictEqual(reported.spec.size, "1");
      const changed = await client.update(widgets, { ...reported, spec: { size: "2" }, status: {} });
      deepStrictEqual([changed.status, changed.metadata.generation], [status, 2]);
      const wrong = { ...changed, status: { phase: 3 } } as unknown as Widget;
      await refused(client.update(widgets, wrong, { subresource: "status" }), "invalid", /status\.phase/u);
    },
  ),

  widgetPromise("an update without a version is refused", async ({ client, ...setup }, widgets) => {
    await client.create(widgets, widget(setup.in("one")));
    const blind = client.update(widgets, widget(setup.in("one"), { size: "2" }));
    await refused(blind, "invalid", /metadata\.resourceVersion/u, /must be specified for an update/u);
  }),

  widgetPromise(
    "custom kinds take merge and JSON patches, no strategic ones",
    async ({ client, ...setup }, widgets) => {
      await client.create(widgets, widget(setup.in("one")));
      const name = setup.in("one");
      const merged = await client.patch(widgets, {
        name,
        patch: { kind: "merge", body: { spec: { colour: "red" } } },
      });
      strictEqual(merged.spec.colour, "red");
      const body = [{ op: "replace", path: "/spec/colour", value: "blue" }] as const;
      strictEqual((await client.patch(widgets, { name, patch: { kind: "json", body } })).spec.colour, "blue");
      const strategic = client.patch(widgets, { name, patch: { kind: "strategic", body: {} } });
      await refused(strategic, "unsupported-media");
    },
  ),

  widgetPromise("custom kinds are applied field by field", async ({ client, ...setup }, widgets) => {
    const apply = (fieldManager: string, spec: Partial<Widget["spec"]>) =>
      client.apply<Widget>(
        widgets,
        { metadata: setup.in("one"), spec: { size: "1", ...spec } },
        { fieldManager },
      );
    await apply("a", { colour: "red", parts: [{ name: "x", weight: 1 }] });
    const both = await apply("b", { parts: [{ name: "y", weight: 2 }] });
    deepStrictEqual(both.spec.parts, [
      { name: "x", weight: 1 },
      { name: "y", weight: 2 },
    ]);
    await refused(apply("b", { colour: "blue" }), "conflict", /conflict with "a".*\.spec\.colour/su);
    const fewer = await apply("a", {});
    deepStrictEqual([fewer.spec.colour, fewer.spec.parts], [undefined, [{ name: "y", weight: 2 }]]);
  }),

  widgetPromise("columns are those of the definition", async ({ client, readTable, ...setup }, widgets) => {
    await client.create(widgets, widget(setup.in("one"), { colour: "red" }));
    const table = await readTable(`/apis/${widgets.group}/v1/namespaces/${setup.namespace}/widgets`);
    const columns = table.columnDefinitions.map(({ name, priority }) => [name, priority]);
    deepStrictEqual(columns, [
      ["Name", 0],
      ["Size", 0],
      ["Colour", 1],
      ["Age", 0],
    ]);
    const [row] = table.rows;
    deepStrictEqual(row?.cells.slice(0, 3), ["one", "1", "red"]);
    ok(/^\d+s$/u.test(String(row?.cells[3])), `${String(row?.cells[3])} is no age`);
  }),

  widgetPromise("selectable fields select, in lists and watches", async ({ client, ...setup }, widgets) => {
    const { namespace } = setup;
    await client.create(widgets, widget(setup.in("red"), { colour: "red" }));
    await client.create(widgets, widget(setup.in("blue"), { colour: "blue" }));
    const fieldSelector = "spec.colour=red";
    deepStrictEqual(namesOf(await listed(client, widgets, { namespace, fieldSelector })), ["red"]);
    const unknown = client.list(widgets, { namespace, fieldSelector: "spec.size=1" }, () => undefined);
    await refused(unknown, "invalid", /field label not supported: spec\.size/u);
    const { resourceVersion } = await client.list(widgets, { namespace }, () => undefined);
    const watch = startWatch(client, widgets, { namespace, resourceVersion, fieldSelector });
    await watch.opened;
    const body = { spec: { colour: "blue" } };
    await client.patch(widgets, { name: setup.in("red"), patch: { kind: "merge", body } });
    strictEqual((await watch.next())?.type, "DELETED");
    watch.stop();
  }),

  promise("a definition that is not structural is refused", async ({ client, unique }) => {
    const definition = widgetDefinition(unique("g"), { properties: { spec: { properties: {} } } });
    const call = client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    await refused(call, "invalid", /openAPIV3Schema/u, /type: Required value: must not be empty/u);
  }),
];
