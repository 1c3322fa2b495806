import { describe, expect, test } from "vitest";
import type { Admission, ResourceDefinition } from "../api/definition.ts";
import type { JsonObject } from "../json.ts";
import { CONFIG_MAPS, SECRETS } from "./config-maps.ts";
import { NAMESPACES, NAMESPACES_TO_FINALIZE } from "./namespaces.ts";
import { NODES } from "./nodes.ts";
import { PODS, PODS_TO_BIND } from "./pods/pods.ts";
import { SERVICES } from "./services.ts";
import { EVENTS, LEASES } from "./small-kinds.ts";

interface Row {
  readonly name: string;
  readonly kind: ResourceDefinition;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  /** Of the first cause; absent: accepted. */
  readonly field?: string;
  readonly message?: string | RegExp;
}

const container = { name: "main", image: "registry.example/app:1" };
const pod = (spec: JsonObject): JsonObject => ({
  metadata: { name: "p" },
  spec: { containers: [container], ...spec },
});
const withResources = (resources: JsonObject): JsonObject =>
  pod({ containers: [{ ...container, resources }] });

function judge({ kind, object, old }: Pick<Row, "kind" | "object" | "old">): Admission {
  return kind.admit({
    object,
    ...(old === undefined ? {} : { old: completed(kind, old) }),
    isStatus: false,
    fieldValidation: "Strict",
  });
}

function completed(kind: ResourceDefinition, object: JsonObject): JsonObject {
  const admission = judge({ kind, object });
  if (!admission.ok) throw new Error(`refused: ${JSON.stringify(admission.causes)}`);
  return admission.object;
}

const PODS_ROWS: readonly Row[] = [
  {
    name: "a pod without containers",
    kind: PODS,
    object: pod({ containers: [] }),
    field: "spec.containers",
    message: "Required value",
  },
  {
    name: "a pod without a spec",
    kind: PODS,
    object: { metadata: { name: "p" } },
    field: "spec.containers",
    message: "Required value",
  },
  {
    name: "a container without a name",
    kind: PODS,
    object: pod({ containers: [{ image: "i" }] }),
    field: "spec.containers[0].name",
    message: "Required value",
  },
  {
    name: "a container without an image",
    kind: PODS,
    object: pod({ containers: [{ name: "c" }] }),
    field: "spec.containers[0].image",
    message: "Required value",
  },
  {
    name: "a container with a bad name",
    kind: PODS,
    object: pod({ containers: [{ name: "C_1", image: "i" }] }),
    field: "spec.containers[0].name",
    message: /RFC 1123 label/u,
  },
  {
    name: "two containers of one name",
    kind: PODS,
    object: pod({ initContainers: [container] }),
    field: "spec.containers[0].name",
    message: 'Duplicate value: "main"',
  },
  {
    name: "an unknown restart policy",
    kind: PODS,
    object: pod({ restartPolicy: "Sometimes" }),
    field: "spec.restartPolicy",
    message: 'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
  },
  {
    name: "a quantity that is none",
    kind: PODS,
    object: withResources({ requests: { cpu: "much" } }),
    field: "spec.containers[0].resources.requests.cpu",
  },
  {
    name: "a negative request",
    kind: PODS,
    object: withResources({ requests: { cpu: "-1" } }),
    field: "spec.containers[0].resources.requests[cpu]",
    message: 'Invalid value: "-1": must be greater than or equal to 0',
  },
  {
    name: "a request above its limit",
    kind: PODS,
    object: withResources({ requests: { cpu: "2" }, limits: { cpu: "1500m" } }),
    field: "spec.containers[0].resources.requests",
    message: 'Invalid value: "2": must be less than or equal to cpu limit of 1500m',
  },
  {
    name: "a port beyond all ports",
    kind: PODS,
    object: pod({ containers: [{ ...container, ports: [{ containerPort: 70_000 }] }] }),
    field: "spec.containers[0].ports[0].containerPort",
    message: /between 1 and 65535/u,
  },
  {
    name: "a mount of no volume",
    kind: PODS,
    object: pod({ containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/d" }] }] }),
    field: "spec.containers[0].volumeMounts[0].name",
    message: 'Not found: "data"',
  },
  {
    name: "two volumes of one name",
    kind: PODS,
    object: pod({
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "v", emptyDir: {} },
      ],
    }),
    field: "spec.volumes[1].name",
    message: 'Duplicate value: "v"',
  },
  {
    name: "an unknown field",
    kind: PODS,
    object: pod({ colour: "red" }),
    field: "spec.colour",
    message: 'unknown field "spec.colour"',
  },
  {
    name: "a text where a list belongs",
    kind: PODS,
    object: pod({ containers: "main" }),
    field: "spec.containers",
    message: /cannot unmarshal string/u,
  },
  {
    name: "a toleration of everything without Exists",
    kind: PODS,
    object: pod({ tolerations: [{ value: "x" }] }),
    field: "spec.tolerations[0].operator",
  },
  {
    name: "another image",
    kind: PODS,
    old: pod({}),
    object: pod({ containers: [{ ...container, image: "registry.example/app:2" }] }),
  },
  {
    name: "other resources",
    kind: PODS,
    old: pod({}),
    object: withResources({ requests: { cpu: "1" } }),
    field: "spec",
    message: /^Forbidden: pod updates may not change fields other than/u,
  },
  {
    name: "a node by an ordinary update",
    kind: PODS,
    old: pod({}),
    object: pod({ nodeName: "n" }),
    field: "spec",
  },
  { name: "a node by a binding", kind: PODS_TO_BIND, old: pod({}), object: pod({ nodeName: "n" }) },
  { name: "a gate taken away", kind: PODS, old: pod({ schedulingGates: [{ name: "g" }] }), object: pod({}) },
  {
    name: "a gate added",
    kind: PODS,
    old: pod({}),
    object: pod({ schedulingGates: [{ name: "g" }] }),
    field: "spec",
  },
];

const SECRET = { metadata: { name: "s" }, type: "Opaque" };
const SERVICE = { metadata: { name: "s", namespace: "d" } };

const OTHER_ROWS: readonly Row[] = [
  {
    name: "a key with a slash",
    kind: CONFIG_MAPS,
    object: { data: { "a/b": "c" } },
    field: "data[a/b]",
    message: /valid config key/u,
  },
  {
    name: "a change of an immutable config map",
    kind: CONFIG_MAPS,
    old: { immutable: true, data: { a: "1" } },
    object: { immutable: true, data: { a: "2" } },
    field: "data",
    message: "Forbidden: field is immutable when `immutable` is set",
  },
  {
    name: "a number among texts",
    kind: CONFIG_MAPS,
    object: { data: { port: 80 } },
    field: "data.port",
    message: /cannot unmarshal number/u,
  },
  {
    name: "a secret that is not base64",
    kind: SECRETS,
    object: { ...SECRET, data: { pin: "1234!" } },
    field: "data.pin",
    message: "illegal base64 data",
  },
  {
    name: "another type of a secret",
    kind: SECRETS,
    old: SECRET,
    object: { ...SECRET, type: "kubernetes.io/tls" },
    field: "type",
    message: /field is immutable/u,
  },
  {
    name: "a service without ports",
    kind: SERVICES,
    object: SERVICE,
    field: "spec.ports",
    message: "Required value",
  },
  {
    name: "a headless service without ports",
    kind: SERVICES,
    object: { ...SERVICE, spec: { clusterIP: "None" } },
  },
  {
    name: "two ports without names",
    kind: SERVICES,
    object: { ...SERVICE, spec: { ports: [{ port: 1 }, { port: 2 }] } },
    field: "spec.ports[0].name",
    message: "Required value",
  },
  {
    name: "an external name without the name",
    kind: SERVICES,
    object: { ...SERVICE, spec: { type: "ExternalName" } },
    field: "spec.externalName",
  },
  {
    name: "a lease of no time",
    kind: LEASES,
    object: { spec: { leaseDurationSeconds: 0 } },
    field: "spec.leaseDurationSeconds",
    message: "Invalid value: 0: must be greater than 0",
  },
  {
    name: "a time that is none",
    kind: LEASES,
    object: { spec: { renewTime: "now" } },
    field: "spec.renewTime",
  },
  {
    name: "an event about another namespace",
    kind: EVENTS,
    object: { metadata: { namespace: "a" }, involvedObject: { namespace: "b" } },
    field: "involvedObject.namespace",
    message: /does not match event\.namespace/u,
  },
  {
    name: "an unknown effect of a taint",
    kind: NODES,
    object: { spec: { taints: [{ key: "k", effect: "Never" }] } },
    field: "spec.taints[0].effect",
    message: /^Unsupported value/u,
  },
  {
    name: "the same taint twice",
    kind: NODES,
    object: {
      spec: {
        taints: [
          { key: "k", effect: "NoSchedule" },
          { key: "k", value: "v", effect: "NoSchedule" },
        ],
      },
    },
    field: "spec.taints[1]",
    message: /^Duplicate value/u,
  },
];

describe("what built-in kinds say to", () => {
  test.each([...PODS_ROWS, ...OTHER_ROWS])("$name", ({ field, message = /./u, ...row }) => {
    const admission = judge(row);
    if (field === undefined) {
      expect(admission).toMatchObject({ ok: true });
      return;
    }
    const [cause] = admission.ok ? [] : admission.causes;
    expect(cause?.field).toBe(field);
    if (typeof message === "string") expect(cause?.message).toBe(message);
    else expect(cause?.message).toMatch(message);
  });
});

describe("what is completed", () => {
  test("a pod gets what kubectl shows, and requests from its limits", () => {
    expect(completed(PODS, withResources({ limits: { cpu: "1000m", memory: "1024Mi" } }))).toMatchObject({
      spec: {
        restartPolicy: "Always",
        serviceAccountName: "default",
        schedulerName: "default-scheduler",
        containers: [
          {
            imagePullPolicy: "IfNotPresent",
            resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } },
          },
        ],
      },
      status: { phase: "Pending", qosClass: "Guaranteed" },
    });
  });

  test.each([
    ["BestEffort", {}],
    ["Burstable", { requests: { cpu: "1" } }],
    ["Burstable", { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Gi" } }],
    ["Guaranteed", { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } }],
  ])("a pod is %s with %j", (qosClass, resources) => {
    expect(completed(PODS, withResources(resources))).toMatchObject({ status: { qosClass } });
  });

  test.each([
    ["app", "Always"],
    ["registry.example:5000/app", "Always"],
    ["registry.example:5000/app:1.2", "IfNotPresent"],
    ["app:latest", "Always"],
    ["app@sha256:0", "IfNotPresent"],
  ])("an image called %s is fetched %s", (image, imagePullPolicy) => {
    const object = pod({ containers: [{ name: "c", image }] });
    expect(completed(PODS, object)).toMatchObject({ spec: { containers: [{ imagePullPolicy }] } });
  });

  test("a secret's texts become data", () => {
    const secret = completed(SECRETS, { ...SECRET, stringData: { pin: "1234" } });
    expect(secret).toEqual({ ...SECRET, data: { pin: "MTIzNA==" } });
  });

  test("a service gets the same address each time, and node ports where it is open", () => {
    const open = { ...SERVICE, spec: { type: "NodePort", ports: [{ port: 80 }] } };
    const [first, second] = [completed(SERVICES, open), completed(SERVICES, open)];
    expect(first).toEqual(second);
    expect(first).toMatchObject({
      spec: {
        clusterIP: expect.stringMatching(/^10\.96\./u),
        ports: [{ protocol: "TCP", targetPort: 80, nodePort: expect.any(Number) }],
      },
    });
  });

  test("only the finalize path changes what holds a namespace", () => {
    const named = { metadata: { name: "n" } };
    const emptied = { ...named, spec: { finalizers: [] } };
    const old = completed(NAMESPACES, named);
    expect(judge({ kind: NAMESPACES, object: emptied, old: named })).toMatchObject({
      object: { spec: old["spec"] },
    });
    expect(judge({ kind: NAMESPACES_TO_FINALIZE, object: emptied, old: named })).toMatchObject({
      object: { spec: { finalizers: [] } },
    });
  });

  test("nulls are as if they were not there", () => {
    expect(completed(CONFIG_MAPS, { data: null, metadata: { name: "c", creationTimestamp: null } })).toEqual({
      metadata: { name: "c" },
    });
  });

  test("unknown fields are dropped with a warning, or silently", () => {
    const object = { data: {}, colour: "red" };
    const write = { object, isStatus: false } as const;
    expect(CONFIG_MAPS.admit({ ...write, fieldValidation: "Warn" })).toEqual({
      ok: true,
      object: { data: {} },
      warnings: ['unknown field "colour"'],
    });
    expect(CONFIG_MAPS.admit({ ...write, fieldValidation: "Ignore" })).toMatchObject({ warnings: [] });
  });
});
