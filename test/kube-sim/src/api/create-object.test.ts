import { describe, expect, it } from "vitest";
import type { JsonObject } from "../json.ts";
import { finalizersOf, metadataOf, nameOf, objectAt } from "../json-access.ts";
import type { CollectionTarget } from "./cluster-api.ts";
import {
  CRD,
  DELETE,
  NAMESPACE,
  PLANT,
  PODS,
  refusalOf,
  refusalText,
  SERVICE,
  smallCluster,
  versionOf,
  WIDGET,
  WIDGETS,
  WRITE,
  widget,
} from "./testing/small-cluster.ts";

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

describe("create", () => {
  it("fills in the metadata and leaves out what a client may not say", () => {
    const { api } = smallCluster();
    const { object, isNew, warnings } = api.create(
      WIDGETS,
      {
        ...widget(
          "a",
          { size: 1 },
          { uid: "mine", creationTimestamp: "1999-01-01T00:00:00Z", generation: 9, labels: { x: "y" } },
        ),
        status: { phase: "Ready" },
      },
      WRITE,
    );
    expect({ isNew, warnings }).toEqual({ isNew: true, warnings: [] });
    expect(object).toEqual({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: {
        name: "a",
        namespace: "default",
        labels: { x: "y" },
        uid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        resourceVersion: api.resourceVersion(),
        generation: 1,
        creationTimestamp: "2026-01-05T12:00:00Z",
      },
      spec: { size: 1 },
    });
    expect(api.get({ ...WIDGETS, name: "a" })).toBe(object);
  });

  it("tries another name when the first is taken", () => {
    const suffixes = [0, 0, 0, 1];
    const { api } = smallCluster((size) =>
      new Uint8Array(size).fill(size === 5 ? (suffixes.shift() ?? 2) : 9),
    );
    const create = () => nameOf(api.create(PODS, { metadata: { generateName: "web-" } }, WRITE).object);
    expect([create(), create()]).toEqual(["web-bbbbb", "web-ccccc"]);
  });

  it("makes a name of five more letters", () => {
    const { api } = smallCluster();
    const names = Array.from({ length: 40 }, () =>
      nameOf(api.create(PODS, { metadata: { generateName: "web-" } }, WRITE).object),
    );
    for (const name of names) expect(name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(new Set(names).size).toBe(names.length);
  });

  it("cuts a long generateName so that the name is a label", () => {
    const { api } = smallCluster();
    const { object } = api.create(PODS, { metadata: { generateName: "x".repeat(80) } }, WRITE);
    expect(nameOf(object)).toHaveLength(63);
  });

  it("stores nothing when it is only asked what would happen", () => {
    const { api } = smallCluster();
    const before = api.resourceVersion();
    const { object } = api.create(WIDGETS, widget("a"), { ...WRITE, dryRun: true });
    expect(metadataOf(object)["uid"]).toBeTypeOf("string");
    expect(versionOf(object)).toBe("");
    expect(api.resourceVersion()).toBe(before);
    expect(refusalText(() => api.create(WIDGETS, widget("B"), { ...WRITE, dryRun: true }))).toContain(
      "422 Invalid",
    );
  });

  it("passes warnings on", () => {
    const { api } = smallCluster();
    const write = api.create(WIDGETS, widget("a", { surprise: 1 }), { ...WRITE, fieldValidation: "Warn" });
    expect(write.warnings).toEqual(['unknown field "spec.surprise"']);
  });

  it("clears the namespace of a kind that has none", () => {
    const { api } = smallCluster();
    const { object } = api.create(
      { definition: PLANT },
      { metadata: { name: "p", namespace: "default" } },
      WRITE,
    );
    expect(metadataOf(object)["namespace"]).toBeUndefined();
  });

  it("holds namespaces and CustomResourceDefinitions until what depends on them is gone", () => {
    const { api } = smallCluster();
    const namespace = api.create({ definition: NAMESPACE }, { metadata: { name: "n" } }, WRITE).object;
    expect(objectAt(namespace, "spec")).toEqual({ finalizers: ["kubernetes"] });
    const crd = api.create({ definition: CRD }, { metadata: { name: "widgets.example.com" } }, WRITE).object;
    expect(finalizersOf(crd)).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
  });

  const refused: readonly (readonly [string, CollectionTarget, JsonObject, string])[] = [
    [
      "a name that is taken",
      WIDGETS,
      widget("taken"),
      '409 AlreadyExists: widgets.example.com "taken" already exists',
    ],
    [
      "no name at all",
      WIDGETS,
      { metadata: {} },
      '422 Invalid: Widget.example.com "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
    [
      "a name that is no subdomain",
      PODS,
      { metadata: { name: "Big_" } },
      `422 Invalid: Pod "Big_" is invalid: metadata.name: Invalid value: "Big_": ${SUBDOMAIN}`,
    ],
    [
      "a namespace whose name is no label",
      { definition: NAMESPACE },
      { metadata: { name: "a.b" } },
      `422 Invalid: Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": ${LABEL}`,
    ],
    [
      "a service whose name starts with a digit",
      { definition: SERVICE, namespace: "default" },
      { metadata: { name: "1a" } },
      "422 Invalid: Service \"1a\" is invalid: metadata.name: Invalid value: \"1a\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
    [
      "a name that is too long",
      PODS,
      { metadata: { name: "a".repeat(254) } },
      `422 Invalid: Pod "${"a".repeat(254)}" is invalid: metadata.name: Invalid value: "${"a".repeat(254)}": must be no more than 253 characters`,
    ],
    [
      "a namespace that is not there",
      { definition: WIDGET, namespace: "nowhere" },
      widget("a"),
      '404 NotFound: namespaces "nowhere" not found',
    ],
    [
      "another namespace in the body",
      WIDGETS,
      widget("a", {}, { namespace: "other" }),
      "400 BadRequest: the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "no namespace",
      { definition: WIDGET },
      widget("a"),
      "400 BadRequest: an empty namespace may not be set during creation",
    ],
    [
      "another apiVersion",
      WIDGETS,
      { ...widget("a"), apiVersion: "example.com/v2" },
      "400 BadRequest: the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)",
    ],
    [
      "another kind",
      PODS,
      { kind: "Service", metadata: { name: "a" } },
      '400 BadRequest: Service in version "v1" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): unknown conversion',
    ],
    [
      "a version",
      WIDGETS,
      widget("a", {}, { resourceVersion: "7" }),
      "500 : resourceVersion should not be set on objects to be created",
    ],
    [
      "a label that is no text",
      PODS,
      { metadata: { name: "a", labels: { x: 1 } } },
      '400 BadRequest: Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      "a label value with a space",
      PODS,
      { metadata: { name: "a", labels: { x: "a b" } } },
      "422 Invalid: Pod \"a\" is invalid: metadata.labels: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
    [
      "an owner without a uid",
      PODS,
      { metadata: { name: "a", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "b" }] } },
      '422 Invalid: Pod "a" is invalid: metadata.ownerReferences[0].uid: Invalid value: "": must not be empty',
    ],
    [
      "what the kind refuses",
      WIDGETS,
      widget("a", { size: "big" }),
      '422 Invalid: Widget.example.com "a" is invalid: spec.size: Invalid value: "big": must be a number',
    ],
  ];
  for (const [what, target, object, message] of refused) {
    it(`refuses ${what}`, () => {
      const { api } = smallCluster();
      api.create(WIDGETS, widget("taken"), WRITE);
      const before = api.resourceVersion();
      expect(refusalText(() => api.create(target, object, WRITE))).toBe(message);
      expect(api.resourceVersion()).toBe(before);
    });
  }

  it("tells wrong metadata and wrong fields together, each as a cause", () => {
    const { api } = smallCluster();
    const { message, status } = refusalOf(() => api.create(WIDGETS, widget("B", { size: "x" }), WRITE));
    expect(message).toBe(
      `Widget.example.com "B" is invalid: [metadata.name: Invalid value: "B": ${SUBDOMAIN}, spec.size: Invalid value: "x": must be a number]`,
    );
    expect(status).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason: "Invalid",
      details: {
        name: "B",
        group: "example.com",
        kind: "Widget",
        causes: [
          {
            reason: "FieldValueInvalid",
            message: `Invalid value: "B": ${SUBDOMAIN}`,
            field: "metadata.name",
          },
          {
            reason: "FieldValueInvalid",
            message: 'Invalid value: "x": must be a number',
            field: "spec.size",
          },
        ],
      },
      code: 422,
    });
  });

  it("refuses unknown fields when asked to be strict", () => {
    const { api } = smallCluster();
    expect(
      refusalText(() =>
        api.create(WIDGETS, widget("a", { surprise: 1 }), { ...WRITE, fieldValidation: "Strict" }),
      ),
    ).toBe(
      '400 BadRequest: Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.surprise"',
    );
  });

  it("refuses new content for a namespace or a kind that goes", () => {
    const { api } = smallCluster();
    api.create(
      { definition: CRD },
      { metadata: { name: "widgets.example.com", finalizers: ["example.com/wait"] } },
      WRITE,
    );
    api.delete({ definition: NAMESPACE, name: "other" }, DELETE);
    const { status } = refusalOf(() =>
      api.create({ ...PODS, namespace: "other" }, { metadata: { name: "a" } }, WRITE),
    );
    expect(status).toMatchObject({
      message:
        'pods "a" is forbidden: unable to create new content in namespace other because it is being terminated',
      reason: "Forbidden",
      details: {
        name: "a",
        kind: "pods",
        causes: [
          {
            reason: "NamespaceTerminating",
            message: "namespace other is being terminated",
            field: "metadata.namespace",
          },
        ],
      },
      code: 403,
    });
    api.delete({ definition: CRD, name: "widgets.example.com" }, DELETE);
    expect(refusalText(() => api.create(WIDGETS, widget("a"), WRITE))).toBe(
      "405 MethodNotAllowed: create not allowed while custom resource definition is terminating",
    );
  });

  it("gives up when every name it tries is taken", () => {
    const { api } = smallCluster((size) => new Uint8Array(size));
    api.create(PODS, { metadata: { generateName: "a-" } }, WRITE);
    const { status } = refusalOf(() => api.create(PODS, { metadata: { generateName: "a-" } }, WRITE));
    expect(status).toMatchObject({
      message:
        'pods "a-bbbbb" already exists, the server was not able to generate a unique name for the object',
      reason: "AlreadyExists",
      details: { name: "a-bbbbb", kind: "pods", retryAfterSeconds: 1 },
      code: 409,
    });
  });
});
