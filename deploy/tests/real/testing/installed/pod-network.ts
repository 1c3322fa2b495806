import { randomBytes, randomInt } from "node:crypto";
import { join } from "node:path";
import { type Child, childOf, type Guardian, until } from "@resource-broker/testkit";

/**
 * A network of its own with one link to ours, for as long as this process lives: what a kubelet keeps a pause container
 * for. Arguments: our process, the link's name here, its address here and in the pod.
 */
const START = `
  host=$1 link=$2 here=$3 there=$4
  ip link add eth0 type veth peer name "$link" netns "$host"
  ip address add "$there/30" dev eth0
  ip link set eth0 up
  ip link set lo up
  nsenter --net="/proc/$host/ns/net" ip address add "$here/30" dev "$link"
  nsenter --net="/proc/$host/ns/net" ip link set "$link" up
  echo ready
  exec sleep infinity
`;

export interface PodNetwork {
  /** Our end of the link. */
  readonly here: string;
  /** The pod's address. */
  readonly there: string;
  /** Enters the network before it runs what follows. */
  readonly enter: readonly string[];
  readonly close: () => Promise<void>;
}

/** Networks of four addresses each, in the range that is set aside for tests between machines (RFC 2544). */
const ADDRESSES_EACH = 4;
let next = randomInt(2 ** 14);

export async function podNetwork(directory: string, guardian: Guardian): Promise<PodNetwork> {
  next = (next + 1) % 2 ** 14;
  const address = (place: number): string => {
    const number = next * ADDRESSES_EACH + place;
    return `198.18.${Math.floor(number / 256)}.${number % 256}`;
  };
  const [here, there] = [address(1), address(2)];
  const pause: Child = childOf({
    command: ["unshare", "--net", "sh", "-euc", START, "pause", String(process.pid), linkName(), here, there],
    cwd: directory,
    logFile: join(directory, "network.log"),
    guardian,
  });
  await pause.launch();
  await until("the pod has a network", async () => {
    const lines = await pause.logLines();
    if (pause.pid() === undefined) throw new Error(lines.join("\n"));
    return lines.includes("ready") || undefined;
  });
  return {
    here,
    there,
    enter: ["nsenter", `--net=/proc/${pause.pid()}/ns/net`],
    close: async () => void (await pause.kill("SIGKILL")),
  };
}

/** Interfaces have at most 15 characters. */
function linkName(): string {
  return `pod${randomBytes(5).toString("hex")}`;
}
