import { encodeWatchFrame, type JsonObject } from "@resource-broker/kube-sim";
import { makePod } from "../cluster/pod.ts";
import { type ClusterSize, type Encoding, FIRST_VERSION } from "../cluster/size.ts";

const CHANGES_PER_DEPARTURE = 10;

/** The changes of a busy cluster: most pods only report, now and then one goes and another comes. */
export function changeMaker(size: ClusterSize, encoding: Encoding): () => Uint8Array {
  let count = 0;
  return () => {
    count += 1;
    const step = count % CHANGES_PER_DEPARTURE;
    const departures = Math.floor(count / CHANGES_PER_DEPARTURE);
    const version = 2 * FIRST_VERSION + count;
    const pod = (index: number): JsonObject => makePod(index, { nodes: size.nodes, version });
    if (step === 0) return encode("DELETED", pod(departures % size.pods), encoding);
    if (step === 1) return encode("ADDED", pod(size.pods + departures), encoding);
    return encode("MODIFIED", pod((count * 7919) % size.pods), encoding);
  };
}

function encode(type: "ADDED" | "MODIFIED" | "DELETED", object: JsonObject, encoding: Encoding): Uint8Array {
  if (encoding === "protobuf") return encodeWatchFrame(type, object);
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}
