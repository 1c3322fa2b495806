import { describe, expect, it } from "vitest";
import type { DeleteOptions, Target, WatchChange } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import {
  CRD,
  DELETE,
  NAMESPACE,
  PATCH,
  PLANT,
  POD,
  PODS,
  refusalText,
  type SmallCluster,
  smallCluster,
  textsOf,
  WIDGET,
  WIDGETS,
  WRITE,
  widget,
} from "../api/testing/small-cluster.ts";
import type { JsonObject } from "../json.ts";
import { finalizersOf, isTerminating, metadataOf, nameOf, uidOf } from "../json-access.ts";

const FOREGROUND: DeleteOptions = { ...DELETE, propagation: "Foreground" };
const ORPHAN: DeleteOptions = { ...DELETE, propagation: "Orphan" };

function reference(owner: JsonObject, more: JsonObject = {}): JsonObject {
  const { apiVersion, kind } = owner;
  return { apiVersion, kind, name: nameOf(owner), uid: uidOf(owner), ...more };
}

function at(name: string, definition: ResourceDefinition = WIDGET): Target {
  return definition.isNamespaced ? { definition, namespace: "default", name } : { definition, name };
}

function make(cluster: SmallCluster, name: string, metadata: JsonObject = {}): JsonObject {
  return cluster.api.create(WIDGETS, widget(name, {}, metadata), WRITE).object;
}

function left({ api }: SmallCluster, definition: ResourceDefinition = WIDGET): readonly string[] {
  return api.list({ definition }, {}).items.map(nameOf);
}

function noFinalizers({ api }: SmallCluster, target: Target): void {
  api.patch(target, { kind: "merge", body: { metadata: { finalizers: null } } }, PATCH);
}

describe("the garbage collector", () => {
  it("removes dependents of an owner that is gone, and theirs, not in the same breath", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    const child = make(cluster, "child", { ownerReferences: [reference(owner)] });
    make(cluster, "grandchild", { ownerReferences: [reference(child)] });
    make(cluster, "stranger");
    cluster.api.delete(at("owner"), DELETE);
    expect(left(cluster)).toEqual(["child", "grandchild", "stranger"]);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["stranger"]);
  });

  it("keeps a dependent that has another owner, without the reference to the lost one", async () => {
    const cluster = smallCluster();
    const [a, b] = [make(cluster, "a"), make(cluster, "b")];
    make(cluster, "child", { ownerReferences: [reference(a), reference(b)] });
    cluster.api.delete(at("a"), DELETE);
    await cluster.time.advance(0);
    expect(metadataOf(cluster.api.get(at("child")))["ownerReferences"]).toEqual([reference(b)]);
  });

  it.each([
    ["does not exist", { apiVersion: "example.com/v1", kind: "Widget", name: "nobody", uid: "u" }, []],
    [
      "has the name but another uid",
      { apiVersion: "example.com/v1", kind: "Widget", name: "owner", uid: "u" },
      ["owner"],
    ],
    [
      "is of a kind nobody serves",
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "u" },
      ["child"],
    ],
  ])("looks at what is created with an owner that %s", async (_name, ownerReference, expected) => {
    const cluster = smallCluster();
    if (ownerReference.name === "owner") make(cluster, "owner");
    make(cluster, "child", { ownerReferences: [ownerReference] });
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(expected);
  });

  it("takes an owner in another namespace for one that is not there", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    const target = { ...WIDGETS, namespace: "other" };
    cluster.api.create(target, widget("child", {}, { ownerReferences: [reference(owner)] }), WRITE);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["owner"]);
  });

  it("lets an object without a namespace own one that has one", async () => {
    const cluster = smallCluster();
    const plant = cluster.api.create({ definition: PLANT }, { metadata: { name: "plant" } }, WRITE).object;
    make(cluster, "child", { ownerReferences: [reference(plant)] });
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["child"]);
    cluster.api.delete(at("plant", PLANT), DELETE);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual([]);
  });

  it("respects the finalizers of dependents", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    make(cluster, "child", { ownerReferences: [reference(owner)], finalizers: ["example.com/x"] });
    cluster.api.delete(at("owner"), DELETE);
    await cluster.time.advance(0);
    expect(isTerminating(cluster.api.get(at("child")))).toBe(true);
    noFinalizers(cluster, at("child"));
    expect(left(cluster)).toEqual([]);
  });

  it("sees an owner that is added later", async () => {
    const cluster = smallCluster();
    make(cluster, "child");
    const lost = { apiVersion: "example.com/v1", kind: "Widget", name: "gone", uid: "u" };
    const body = { metadata: { ownerReferences: [lost] } };
    cluster.api.patch(at("child"), { kind: "merge", body }, PATCH);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual([]);
  });

  it("waits in the foreground for dependents that block, and for no others", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    const blocking = { ownerReferences: [reference(owner, { blockOwnerDeletion: true })] };
    make(cluster, "blocks", { ...blocking, finalizers: ["example.com/x"] });
    make(cluster, "idle", { ownerReferences: [reference(owner)], finalizers: ["example.com/x"] });
    const lingering = cluster.api.delete(at("owner"), FOREGROUND);
    expect(finalizersOf(lingering)).toEqual(["foregroundDeletion"]);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["blocks", "idle", "owner"]);
    expect(isTerminating(cluster.api.get(at("blocks")))).toBe(true);
    noFinalizers(cluster, at("blocks"));
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["idle"]);
    expect(isTerminating(cluster.api.get(at("idle")))).toBe(true);
  });

  it("waits in the foreground no longer for a dependent that was given away", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    const blocking = { ownerReferences: [reference(owner, { blockOwnerDeletion: true })] };
    make(cluster, "blocks", { ...blocking, finalizers: ["example.com/x"] });
    cluster.api.delete(at("owner"), FOREGROUND);
    await cluster.time.advance(0);
    const body = { metadata: { ownerReferences: null } };
    cluster.api.patch(at("blocks"), { kind: "merge", body }, PATCH);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["blocks"]);
  });

  it("passes the foreground on to dependents that own something themselves", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    const child = make(cluster, "child", {
      ownerReferences: [reference(owner, { blockOwnerDeletion: true })],
    });
    make(cluster, "leaf", {
      ownerReferences: [reference(child, { blockOwnerDeletion: true })],
      finalizers: ["example.com/x"],
    });
    cluster.api.delete(at("owner"), FOREGROUND);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["child", "leaf", "owner"]);
    expect(finalizersOf(cluster.api.get(at("child")))).toEqual(["foregroundDeletion"]);
    noFinalizers(cluster, at("leaf"));
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual([]);
  });

  it("ends a circle of owners that block each other", async () => {
    const cluster = smallCluster();
    const a = make(cluster, "a");
    const b = make(cluster, "b", { ownerReferences: [reference(a, { blockOwnerDeletion: true })] });
    const body = { metadata: { ownerReferences: [reference(b, { blockOwnerDeletion: true })] } };
    cluster.api.patch(at("a"), { kind: "merge", body }, PATCH);
    await cluster.time.advance(0);
    cluster.api.delete(at("a"), FOREGROUND);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual([]);
  });

  it("lets dependents live without their owner when they are orphaned", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    make(cluster, "child", { ownerReferences: [reference(owner)] });
    expect(finalizersOf(cluster.api.delete(at("owner"), ORPHAN))).toEqual(["orphan"]);
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["child"]);
    expect(metadataOf(cluster.api.get(at("child")))).not.toHaveProperty("ownerReferences");
  });

  it("does nothing more once it is stopped", async () => {
    const cluster = smallCluster();
    const owner = make(cluster, "owner");
    make(cluster, "child", { ownerReferences: [reference(owner)] });
    cluster.api.delete(at("owner"), DELETE);
    cluster.stop();
    await cluster.time.advance(0);
    expect(left(cluster)).toEqual(["child"]);
  });

  it("leaves alone what the api does not let go", async () => {
    const cluster = smallCluster();
    const lost = { apiVersion: "example.com/v1", kind: "Plant", name: "gone", uid: "u" };
    const body = { metadata: { ownerReferences: [lost] } };
    cluster.api.patch(at("default", NAMESPACE), { kind: "merge", body }, PATCH);
    make(cluster, "child", { ownerReferences: [lost] });
    await cluster.time.advance(0);
    expect(left(cluster, NAMESPACE)).toEqual(["default", "other"]);
    expect(left(cluster)).toEqual([]);
  });
});

describe("a namespace that is deleted", () => {
  const other = { definition: NAMESPACE, name: "other" };

  it("goes after everything in it", async () => {
    const cluster = smallCluster();
    const { api, time } = cluster;
    api.create({ ...WIDGETS, namespace: "other" }, widget("a"), WRITE);
    api.create({ ...PODS, namespace: "other" }, { metadata: { name: "p" } }, WRITE);
    make(cluster, "elsewhere");
    const changes: WatchChange[] = [];
    for (const definition of [WIDGET, POD, NAMESPACE]) {
      api.watch({ definition }, { resourceVersion: api.resourceVersion() }, (change) => changes.push(change));
    }
    const going = api.delete(other, DELETE);
    expect(going).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { phase: "Terminating" },
    });
    await time.advance(0);
    expect(textsOf(changes)).toEqual(["MODIFIED other", "DELETED p", "DELETED a", "DELETED other"]);
    expect(left(cluster)).toEqual(["elsewhere"]);
    expect(refusalText(() => api.get(other))).toBe('404 NotFound: namespaces "other" not found');
  });

  it("waits for finalizers in it and of its own", async () => {
    const cluster = smallCluster();
    const { api, time } = cluster;
    const held = { ...WIDGETS, namespace: "other", name: "held" };
    api.create(held, widget("held", {}, { finalizers: ["example.com/x"] }), WRITE);
    api.patch(other, { kind: "merge", body: { metadata: { finalizers: ["example.com/y"] } } }, PATCH);
    api.delete(other, DELETE);
    await time.advance(0);
    expect(isTerminating(api.get(held))).toBe(true);
    expect(api.get(other)["spec"]).toEqual({ finalizers: ["kubernetes"] });
    noFinalizers(cluster, held);
    await time.advance(0);
    expect(api.get(other)["spec"]).toEqual({ finalizers: [] });
    noFinalizers(cluster, other);
    expect(refusalText(() => api.get(other))).toContain("404");
  });

  it("gives pods on nodes their time", async () => {
    const { api, time } = smallCluster();
    const pod = { ...PODS, namespace: "other", name: "p" };
    api.create(pod, { metadata: { name: "p" }, spec: { nodeName: "n" } }, WRITE);
    api.delete(other, DELETE);
    await time.advance(0);
    expect(metadataOf(api.get(pod))["deletionGracePeriodSeconds"]).toBe(30);
    api.delete(pod, { ...DELETE, gracePeriodSeconds: 0 });
    await time.advance(0);
    expect(refusalText(() => api.get(other))).toContain("404");
  });

  it("can be created again when it is gone", async () => {
    const { api, time } = smallCluster();
    api.delete(other, DELETE);
    expect(
      refusalText(() => api.create({ definition: NAMESPACE }, { metadata: { name: "other" } }, WRITE)),
    ).toBe('409 AlreadyExists: object is being deleted: namespaces "other" already exists');
    await time.advance(0);
    expect(api.create({ definition: NAMESPACE }, { metadata: { name: "other" } }, WRITE).isNew).toBe(true);
    expect(api.create({ ...WIDGETS, namespace: "other" }, widget("a"), WRITE).isNew).toBe(true);
    await time.advance(0);
    expect(api.get({ ...WIDGETS, namespace: "other", name: "a" })).toBeDefined();
  });
});

describe("a CustomResourceDefinition that is deleted", () => {
  it("goes after the objects of its kind", async () => {
    const cluster = smallCluster();
    const { api, time } = cluster;
    const crd = { definition: CRD, name: "widgets.example.com" };
    api.create({ definition: CRD }, { metadata: { name: "widgets.example.com" } }, WRITE);
    make(cluster, "a");
    make(cluster, "held", { finalizers: ["example.com/x"] });
    api.delete(crd, DELETE);
    await time.advance(0);
    expect(left(cluster)).toEqual(["held"]);
    expect(isTerminating(api.get(crd))).toBe(true);
    noFinalizers(cluster, at("held"));
    await time.advance(0);
    expect(refusalText(() => api.get(crd))).toBe(
      '404 NotFound: customresourcedefinitions.apiextensions.k8s.io "widgets.example.com" not found',
    );
  });
});
