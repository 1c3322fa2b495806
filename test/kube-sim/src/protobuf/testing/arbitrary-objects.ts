import fc from "fast-check";
import type { JsonObject } from "../../json.ts";

/** Pods and nodes as an API server writes them: what Go always writes in JSON is there, the rest may be. */

const word = fc.oneof(
  fc.constantFrom("a", "cpu", "memory", "nvidia.com/gpu", "kubernetes.io/hostname", "node-1", "Always", ""),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);
const quantity = fc.oneof(
  fc.constantFrom("0", "250m", "512Mi", "1.5", "16", "65808420Ki", "12e6"),
  fc.nat().map(String),
);
const time = fc
  .date({ min: new Date("0001-01-02"), max: new Date("9999-12-30"), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}Z`);
const words = fc.dictionary(word, word, { maxKeys: 4, noNullPrototype: true });
const quantities = fc.dictionary(word, quantity, { maxKeys: 4, noNullPrototype: true });
const int = fc.integer();

/** Some of the optional members, with all of the required ones. */
function members(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<JsonObject> {
  const all = { ...required, ...optional };
  return fc.record(all, {
    requiredKeys: Object.keys(required),
    noNullPrototype: true,
  }) as fc.Arbitrary<JsonObject>;
}

const listOf = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 3 });

const metadata = members(
  {},
  {
    name: word,
    generateName: word,
    namespace: word,
    uid: word,
    resourceVersion: word,
    generation: int,
    creationTimestamp: fc.option(time),
    deletionTimestamp: time,
    labels: words,
    annotations: words,
    finalizers: listOf(word),
    managedFields: listOf(members({}, { manager: word, time, fieldsV1: fc.constant({ "f:spec": {} }) })),
  },
);

const resources = members({}, { requests: quantities, limits: quantities });

const container = members(
  { name: word, resources },
  {
    image: word,
    args: listOf(word),
    env: listOf(members({ name: word }, { value: word })),
    ports: listOf(members({ containerPort: int }, { name: word })),
    livenessProbe: members({}, { tcpSocket: members({ port: fc.oneof(int, word) }, {}), periodSeconds: int }),
    restartPolicy: word,
    stdin: fc.boolean(),
  },
);

const requirement = members({ key: word, operator: word }, { values: listOf(word) });
const term = members({}, { matchExpressions: listOf(requirement), matchFields: listOf(requirement) });
const nodeSelector = members({ nodeSelectorTerms: fc.array(term, { minLength: 1, maxLength: 3 }) }, {});
const affinity = members(
  {},
  { nodeAffinity: members({}, { requiredDuringSchedulingIgnoredDuringExecution: nodeSelector }) },
);
const condition = members(
  { type: word, status: word },
  { reason: word, message: word, lastTransitionTime: fc.option(time) },
);
const containerStatus = members(
  { name: word },
  { ready: fc.boolean(), restartCount: int, image: word, allocatedResources: quantities, resources },
);

export const arbitraryPod = members(
  {
    metadata,
    spec: members(
      {},
      {
        volumes: listOf(
          members(
            { name: word },
            { emptyDir: members({}, { sizeLimit: quantity }), secret: fc.constant({}) },
          ),
        ),
        containers: listOf(container),
        initContainers: listOf(container),
        nodeName: word,
        nodeSelector: words,
        affinity,
        overhead: quantities,
        resources,
        schedulingGates: listOf(members({ name: word }, {})),
        priority: int,
        hostNetwork: fc.boolean(),
      },
    ),
    status: members(
      {},
      {
        phase: word,
        conditions: listOf(condition),
        podIP: word,
        startTime: time,
        containerStatuses: listOf(containerStatus),
        initContainerStatuses: listOf(containerStatus),
      },
    ),
  },
  { apiVersion: fc.constant("v1"), kind: fc.constant("Pod") },
);

const taint = members({ key: word, effect: word }, { value: word, timeAdded: time });

export const arbitraryNode = members(
  {
    metadata,
    spec: members(
      {},
      { unschedulable: fc.boolean(), taints: listOf(taint), podCIDR: word, providerID: word },
    ),
    status: members(
      {},
      {
        capacity: quantities,
        allocatable: quantities,
        conditions: listOf(condition),
        addresses: listOf(members({ type: word, address: word }, {})),
      },
    ),
  },
  {},
);
