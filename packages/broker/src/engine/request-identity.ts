import { requestFingerprint, type Reserve } from "@resource-broker/domain";

export type AskedRequest = Pick<Reserve, "requester" | "namespace" | "key" | "request">;

/** What an agent's key ends with: the number of the attempt. */
const ATTEMPT_KEY = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,9}$/;

/** Equal for retries: of one object in the requester's cluster, else of requests in one namespace that ask for the same. */
export function requestIdentity({ requester, namespace = "", key = "", request }: AskedRequest): string {
  const [, object] = ATTEMPT_KEY.exec(key) ?? [];
  return [requester, object ?? `in ${namespace}`, requestFingerprint(request)].join("\n");
}
