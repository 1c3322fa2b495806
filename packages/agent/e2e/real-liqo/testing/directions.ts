import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { RESOURCE_REQUESTS, until, WHOLE_NODES, type WholeNode } from "@resource-broker/testkit";
import { askFor, isActive } from "../../testing/resource-request.ts";
import type { Direction } from "./real-liqo-world.ts";

/** Only a guard: above the longest pause between two tries, and on a busy machine. */
export const TIMEOUT_MS = 900_000;

export function ask(
  { requester }: Direction,
  name: string,
  spec: Partial<ResourceRequest["spec"]> = {},
): Promise<ResourceRequest> {
  return askFor(requester, name, spec);
}

/** Resolves when the request is as wanted. */
export function untilRequest(
  { requester }: Pick<Direction, "requester">,
  name: string,
  isAsWanted: (request: ResourceRequest) => boolean,
): Promise<ResourceRequest> {
  return until(
    `the request ${name} in ${requester.name} is as wanted`,
    async () => {
      const request = await requester.find(RESOURCE_REQUESTS, name);
      if (request !== undefined && isAsWanted(request)) return request;
      throw new Error(`it is ${JSON.stringify(request?.status)}`);
    },
    TIMEOUT_MS,
  );
}

/** Resolves when its node is ready; with the reservation's name, which is the node's too. */
export async function untilReady(direction: Direction, name: string): Promise<string> {
  const { status } = await untilRequest(direction, name, isActive);
  return status?.reservationName ?? "";
}

export function nodeOf({ requester }: Direction, name: string): Promise<WholeNode> {
  return requester.client.get(WHOLE_NODES, { name });
}

/** Ends it as its owner does, and waits until the request is gone. */
export async function release(direction: Direction, name: string): Promise<void> {
  const { requester } = direction;
  await requester.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });
  await until(
    `the request ${name} is gone`,
    async () => ((await requester.find(RESOURCE_REQUESTS, name)) === undefined ? true : undefined),
    TIMEOUT_MS,
  );
}

/** Resolves with what the broker knows of a cluster, once that is as wanted. */
export function untilAdvertised(
  { world }: Pick<Direction, "world">,
  name: string,
  isAsWanted: (advertisement: AdvertisementDTO) => boolean,
): Promise<AdvertisementDTO> {
  return until(
    `${name} advertises what is wanted`,
    async () => {
      const { body } = await world.broker.admin().request("GET", PATH.advertisement(name));
      const advertisement = body as AdvertisementDTO;
      if (isAsWanted(advertisement)) return advertisement;
      throw new Error(`it is ${JSON.stringify(advertisement)}`);
    },
    TIMEOUT_MS,
  );
}

/** Something that was seen, for whoever reads the run. */
export function logSeen(text: string): void {
  process.stdout.write(`  seen: ${text}\n`);
}
