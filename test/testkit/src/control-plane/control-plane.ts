import type { ObjectName } from "@resource-broker/kube";
import type { Program } from "../process/program.ts";
import type { ProgramResult } from "../process/run-program.ts";
import type { FaultyProxy } from "../proxy/faulty-proxy.ts";

/** A way to the API server, and the credentials for it. */
export interface ServerAccess {
  /** `https://127.0.0.1:<port>`, or with the address that was asked for. */
  readonly url: string;
  readonly port: number;
  /** The text of a kubeconfig with full rights. */
  readonly kubeconfig: string;
  /** The text of a kubeconfig with a token of this service account, which must be there. */
  readonly kubeconfigFor: (serviceAccount: Required<ObjectName>) => Promise<string>;
}

export interface ServerReply {
  readonly status: number;
  /** Parsed where it is JSON, else its text. */
  readonly body: unknown;
}

/**
 * A real kube-apiserver with its etcd and a kube-controller-manager that collects garbage, empties namespaces, makes
 * service accounts and signs certificates. There is no kubelet and no scheduler: tests write what nodes and pods report.
 * One with an `address` has all controllers: it is meant for others to add nodes.
 */
export interface RealControlPlane extends ServerAccess {
  readonly apiServer: Program;
  readonly etcd: Program;
  readonly controllerManager: Program;
  /** Another way to the same API server, which can be disturbed. */
  readonly proxied: () => Promise<ServerAccess & { readonly proxy: FaultyProxy }>;
  /** The kubectl of the same release, with full rights unless `args` say otherwise. */
  readonly kubectl: (args: readonly string[], stdin?: string) => Promise<ProgramResult>;
  /** One request with full rights, for what clients do not offer. */
  readonly request: (method: string, path: string, body?: object) => Promise<ServerReply>;
  /** Creates or changes these objects, their status included. Definitions are established, namespaces take pods then. */
  readonly seed: (objects: readonly object[]) => Promise<void>;
  /** Old versions are gone from etcd, and from the API server's memory, which needs a restart for that. */
  readonly compact: () => Promise<void>;
  /** Ends everything, in whatever state it is, and removes what it wrote. */
  readonly dispose: () => Promise<void>;
}
