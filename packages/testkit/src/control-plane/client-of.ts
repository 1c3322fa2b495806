import { createKubeClient, type KubeClient, parseKubeconfig, resolveContext } from "@resource-broker/kube";
import { type Log, systemClock } from "@resource-broker/runtime";

const silent = (): void => undefined;
const NO_LOG: Log = { info: silent, warn: silent, error: silent };

/** Our own client on the machine's time, for the text of a kubeconfig that a real control plane gave. Close it. */
export function clientOf(kubeconfig: string): KubeClient {
  const config = resolveContext(parseKubeconfig(JSON.parse(kubeconfig), "the control plane's kubeconfig"));
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  return createKubeClient(config, { clock, log: NO_LOG, env: {}, userAgent: "testkit" });
}
