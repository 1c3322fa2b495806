import type { ResourceList } from "@resource-broker/agent/liqo";
import type { ObjectMeta } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";

/** Nodes and pods whole: the accounting's own types hold only what it reads. */
export interface WholeNode {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly capacity?: ResourceList;
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

interface WholeContainer {
  readonly name: string;
  readonly image: string;
  readonly resources?: object;
}

export interface WholePod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly nodeName?: string;
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers?: readonly WholeContainer[];
  };
  readonly status?: { readonly phase?: string; readonly reason?: string };
}

export const WHOLE_NODES: Resource<WholeNode> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  isNamespaced: false,
};

export const WHOLE_PODS: Resource<WholePod> = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  isNamespaced: true,
};
