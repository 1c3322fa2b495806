import { NODE_LABELS, nodeFacts as readNode, podFacts as readPod } from "@resource-broker/accounting";
import type { KubernetesNode, KubernetesPod } from "@resource-broker/base";
import { nodesWithLabels, podsWithLabels } from "@resource-broker/kube";
import { decodeMessage, goSamples } from "@resource-broker/kube/testing";
import { expect, it } from "vitest";
import { liqoAccounting } from "../liqo/node-accounting.ts";

const podFacts = (pod: KubernetesPod) => readPod(pod, undefined, liqoAccounting);
const nodeFacts = (node: KubernetesNode) => readNode(node, undefined, liqoAccounting);
const podFields = podsWithLabels(liqoAccounting.labels.pod).protobuf ?? {};
const nodeFields = nodesWithLabels([...liqoAccounting.labels.node, ...NODE_LABELS]).protobuf ?? {};

it.each(goSamples().objects.map((sample) => [`${sample.kind}: ${sample.name}`, sample] as const))(
  "what Kubernetes' Go code writes in protobuf means the same as its JSON to the accounting: %s",
  (_, { kind, json, protobuf }) => {
    if (kind === "Pod") expect(podFacts(decodeMessage(podFields, protobuf))).toEqual(podFacts(json));
    else expect(nodeFacts(decodeMessage(nodeFields, protobuf))).toEqual(nodeFacts(json));
  },
);
