import { errorSchema, validate } from "@resource-broker/contract";
import type { BrokerClient, BrokerReply } from "../broker/broker-client.ts";

/** A replica that is paused, or cut off, is not waited for any longer. */
const TIMEOUT_MS = 3000;

/**
 * One client of several replicas: a call goes to the replica that answered last, and after one that does not lead, or does
 * not answer, the next call goes to the next. Like an agent it never sends the same call twice by itself.
 */
export function failoverClient(clients: readonly BrokerClient[]): BrokerClient {
  const [first] = clients;
  if (first === undefined) throw new Error("there is no replica to ask");
  let asked = first;
  const turnFrom = (last: BrokerClient): void => {
    if (asked === last) asked = clients[(clients.indexOf(last) + 1) % clients.length] ?? first;
  };
  return {
    clusterId: first.clusterId,
    request: async (method, path, options) => {
      const client = asked;
      try {
        const reply = await client.request(method, path, { timeoutMs: TIMEOUT_MS, ...options });
        if (isNotLeader(reply)) turnFrom(client);
        return reply;
      } catch (error) {
        turnFrom(client);
        throw error;
      }
    },
    watch: (lastEventId) => asked.watch(lastEventId),
    close: () => {
      for (const client of clients) client.close();
    },
  };
}

function isNotLeader({ status, body }: BrokerReply): boolean {
  if (status !== 503) return false;
  const read = validate(errorSchema, body);
  return read.ok && read.value.code === "not-leader";
}
