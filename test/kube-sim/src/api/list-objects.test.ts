import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameOf, objectAt } from "../json-access.ts";
import type { ClusterApi } from "./cluster-api.ts";
import {
  DELETE,
  NAMESPACE,
  PODS,
  refusalOf,
  refusalText,
  smallCluster,
  WIDGETS,
  WRITE,
  widget,
} from "./testing/small-cluster.ts";

const ALL = { definition: WIDGETS.definition };

function filled(count: number) {
  const cluster = smallCluster();
  for (let index = 0; index < count; index++) {
    cluster.api.create(WIDGETS, widget(`w${String(index).padStart(3, "0")}`), WRITE);
  }
  return cluster;
}

function names({ items }: ReturnType<ClusterApi["list"]>): readonly string[] {
  return items.map(nameOf);
}

describe("list", () => {
  it("lists one namespace or all, in order, with the newest version", () => {
    const { api } = smallCluster();
    for (const [namespace, name] of [
      ["other", "a"],
      ["default", "c"],
      ["default", "b"],
    ] as const) {
      api.create({ ...WIDGETS, namespace }, widget(name), WRITE);
    }
    expect(names(api.list(WIDGETS, {}))).toEqual(["b", "c"]);
    expect(names(api.list(ALL, {}))).toEqual(["b", "c", "a"]);
    expect(names(api.list({ ...WIDGETS, namespace: "nowhere" }, {}))).toEqual([]);
    expect(api.list(ALL, {}).resourceVersion).toBe(api.resourceVersion());
  });

  it("does not take one namespace for another that starts like it", () => {
    const { api } = smallCluster();
    for (const name of ["other-1", "other0", "others"]) {
      api.create({ definition: NAMESPACE }, { metadata: { name } }, WRITE);
      api.create({ ...WIDGETS, namespace: name }, widget("x"), WRITE);
    }
    api.create({ ...WIDGETS, namespace: "other" }, widget("y"), WRITE);
    expect(names(api.list({ ...WIDGETS, namespace: "other" }, {}))).toEqual(["y"]);
  });

  it("pages, and says how many follow", () => {
    const { api } = filled(5);
    const first = api.list(WIDGETS, { limit: 2 });
    expect(first).toMatchObject({ remainingItemCount: 3 });
    const second = api.list(WIDGETS, { limit: 2, continue: first.continue ?? "" });
    expect(second).toMatchObject({ remainingItemCount: 1 });
    const third = api.list(WIDGETS, { limit: 2, continue: second.continue ?? "" });
    expect([first, second, third].flatMap(names)).toEqual(["w000", "w001", "w002", "w003", "w004"]);
    expect(third).not.toHaveProperty("continue");
    expect(third).not.toHaveProperty("remainingItemCount");
  });

  it("does not guess how many follow under a selector", () => {
    const { api } = filled(5);
    expect(api.list(WIDGETS, { limit: 2, labelSelector: "!x" })).not.toHaveProperty("remainingItemCount");
  });

  it("gives every page of a list as it was at the first, whatever is written between", () => {
    const write = fc.record({ index: fc.integer({ min: 0, max: 9 }), isRemoval: fc.boolean() });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), (writes, limit) => {
        const { api } = filled(6);
        const wanted = api.list(WIDGETS, {}).items;
        const found = [];
        let page = api.list(WIDGETS, { limit });
        found.push(...page.items);
        for (const { index, isRemoval } of writes) {
          const name = `w00${index}`;
          if (isRemoval) tryTo(() => api.delete({ ...WIDGETS, name }, DELETE));
          else tryTo(() => api.create(WIDGETS, widget(name), WRITE));
          if (page.continue === undefined) break;
          expect(page.resourceVersion).toBe(
            api.list(WIDGETS, { limit, continue: page.continue }).resourceVersion,
          );
          page = api.list(WIDGETS, { limit, continue: page.continue });
          found.push(...page.items);
        }
        while (page.continue !== undefined) {
          page = api.list(WIDGETS, { limit, continue: page.continue });
          found.push(...page.items);
        }
        expect(found).toEqual(wanted);
      }),
      { numRuns: 50 },
    );
  });

  it("refuses the rest of a list that was compacted, and offers the rest as it is now", () => {
    const { api } = filled(3);
    const first = api.list(WIDGETS, { limit: 1 });
    api.create(WIDGETS, widget("w001b"), WRITE);
    api.compact();
    const { status, code } = refusalOf(() => api.list(WIDGETS, { limit: 1, continue: first.continue ?? "" }));
    expect({ code, reason: status["reason"] }).toEqual({ code: 410, reason: "Expired" });
    expect(status["message"]).toMatch(
      /^The provided continue parameter is too old to display a consistent list result\./,
    );
    const { continue: rest } = objectAt(status, "metadata");
    const page = api.list(WIDGETS, { limit: 2, continue: typeof rest === "string" ? rest : "" });
    expect(names(page)).toEqual(["w001", "w001b"]);
    expect(names(api.list(WIDGETS, { limit: 2, continue: page.continue ?? "" }))).toEqual(["w002"]);
  });

  it("lists an exact version with a limit, one that is as new without", () => {
    const { api } = filled(2);
    const then = api.resourceVersion();
    api.delete({ ...WIDGETS, name: "w000" }, DELETE);
    expect(names(api.list(WIDGETS, { limit: 10, resourceVersion: then }))).toEqual(["w000", "w001"]);
    expect(names(api.list(WIDGETS, { resourceVersion: then }))).toEqual(["w001"]);
    expect(names(api.list(WIDGETS, { resourceVersion: "0" }))).toEqual(["w001"]);
    api.compact();
    expect(refusalText(() => api.list(WIDGETS, { limit: 10, resourceVersion: then }))).toBe(
      "410 Expired: The resourceVersion for the provided list is too old.",
    );
  });

  const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  it.each([
    [
      "no token at all",
      { continue: "%" },
      "400 BadRequest: continue key is not valid: it was not made by this server",
    ],
    [
      "a token of another format",
      { continue: token({ v: "v9", rv: 1, start: "a" }) },
      "400 BadRequest: continue key is not valid: server does not recognize this encoded version",
    ],
    [
      "a token without a version",
      { continue: token({ v: "meta.k8s.io/v1", start: "a" }) },
      "400 BadRequest: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    ],
    [
      "a token without a key",
      { continue: token({ v: "meta.k8s.io/v1", rv: 2 }) },
      "400 BadRequest: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
    ],
    [
      "a token and a version",
      { continue: token({ v: "meta.k8s.io/v1", rv: 2, start: "a" }), resourceVersion: "2" },
      "400 BadRequest: specifying resource version is not allowed when using continue",
    ],
    [
      "a version that is no number",
      { resourceVersion: "abc" },
      '400 BadRequest: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      "a version of the future",
      { resourceVersion: "99" },
      "504 Timeout: Too large resource version: 99, current: 3",
    ],
    [
      "a field it does not know",
      { fieldSelector: "spec.size=1" },
      "400 BadRequest: field label not supported: spec.size",
    ],
  ])("refuses %s", (_name, query, message) => {
    const { api } = smallCluster();
    expect(refusalText(() => api.list(WIDGETS, query))).toBe(message);
  });

  it("finds a single name and a node's pods by field", () => {
    const { api } = smallCluster();
    for (const [name, nodeName] of [
      ["a", "n1"],
      ["b", "n2"],
      ["c", "n1"],
    ] as const) {
      api.create(PODS, { metadata: { name }, spec: { nodeName } }, WRITE);
    }
    expect(names(api.list(PODS, { fieldSelector: "metadata.name=b" }))).toEqual(["b"]);
    expect(names(api.list({ definition: PODS.definition }, { fieldSelector: "metadata.name=b" }))).toEqual([
      "b",
    ]);
    expect(names(api.list(PODS, { fieldSelector: "metadata.name=b,metadata.name=c" }))).toEqual([]);
    expect(names(api.list(PODS, { fieldSelector: "spec.nodeName=n1,metadata.name!=a" }))).toEqual(["c"]);
    expect(names(api.list(PODS, { fieldSelector: "metadata.namespace=other" }))).toEqual([]);
  });
});

function tryTo(action: () => unknown): void {
  try {
    action();
  } catch {
    // Creating what is there, or deleting what is not, is a write that does not happen.
  }
}
