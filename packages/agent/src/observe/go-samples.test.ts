import { GUEST_LABELS, NODE_LABELS, nodeFacts, podFacts } from "@resource-broker/accounting";
import { nodesWithLabels, podsWithLabels } from "@resource-broker/kube";
import { decodeMessage, goSamples } from "@resource-broker/kube/testing";
import { expect, it } from "vitest";

const podFields = podsWithLabels(GUEST_LABELS).protobuf ?? {};
const nodeFields = nodesWithLabels(NODE_LABELS).protobuf ?? {};

it.each(goSamples().objects.map((sample) => [`${sample.kind}: ${sample.name}`, sample] as const))(
  "what Kubernetes' Go code writes in protobuf means the same as its JSON to the accounting: %s",
  (_, { kind, json, protobuf }) => {
    if (kind === "Pod") expect(podFacts(decodeMessage(podFields, protobuf))).toEqual(podFacts(json));
    else expect(nodeFacts(decodeMessage(nodeFields, protobuf))).toEqual(nodeFacts(json));
  },
);
