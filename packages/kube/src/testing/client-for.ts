import { fakeClock } from "@resource-broker/testkit";
import type { KubeClient } from "../client/client.ts";
import { createKubeClient, type KubeClientDeps } from "../client/create-kube-client.ts";
import type { KubeConfig } from "../config/kube-config.ts";
import { recordedLog } from "./recorded-log.ts";

/** A configuration for a server, as a kubeconfig file would give it. */
export function configFor(server: string, parts: Partial<KubeConfig> = {}): KubeConfig {
  return {
    origin: 'context "test" of /test/config',
    server,
    namespace: "default",
    trust: { insecureSkipVerify: false },
    user: {},
    ...parts,
  };
}

/** A client whose time stands still unless the test lets it pass. */
export function clientFor(config: KubeConfig, deps: Partial<KubeClientDeps> = {}): KubeClient {
  return createKubeClient(config, { clock: fakeClock(), log: recordedLog(), env: {}, ...deps });
}

export function statusBody(code: number, reason: string, message: string): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message };
}
