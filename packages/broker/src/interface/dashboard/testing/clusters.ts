import { expect } from "vitest";
import { NEWER_AGENT, requestOf } from "../../http/testing/samples.ts";
import { certificates, type DashboardParts, type runningDashboards } from "./running-dashboard.ts";

export const HOSTILE = `<img src=x onerror=alert(1)>"'&</script>`;

/** A dashboard over a market of three: rome asks; paris, with a hostile name, and tokyo lend. Ends with the test. */
export function clustersOn(start: ReturnType<typeof runningDashboards>) {
  return async (parts: DashboardParts = {}) => {
    const running = await start(parts);
    await running.advertise("rome", { cost: { cpuCost: "0.1", memoryCost: "0", currency: "EUR" } });
    await running.advertise("paris", {
      clusterName: HOSTILE,
      labels: { "topology.kubernetes.io/region": "eu-west", tier: "gold" },
      cost: { cpuCost: "0.03", memoryCost: "0.004", currency: "EUR" },
      gpus: [{ model: "A100", count: 2 }],
      liqo: { clusterID: "liqo-paris", version: "v1.0.1" },
    });
    await running.advertise("tokyo", { cost: { cpuCost: "0.05", memoryCost: "0.004", currency: "EUR" } });
    const reserve = async (who = "rome", body: unknown = requestOf("4", "8Gi", { duration: "1h" })) => {
      const reply = await running.broker.call(certificates.cluster(who), "POST /api/v1/reservations", {
        body,
        headers: NEWER_AGENT,
      });
      return reply.json as { readonly id: string; readonly decisionID: string };
    };
    const admin = await running.signIn();
    const read = async <T>(path: string): Promise<T> => {
      const { status, json, text } = await admin.get(path);
      expect({ status, text }).toMatchObject({ status: 200 });
      return json as T;
    };
    return { ...running, admin, reserve, read };
  };
}
