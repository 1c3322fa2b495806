import { amountOf, describeAmount, parseResources, type ResourceVector } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { type Line, line, span } from "../text.ts";
import { check } from "./step.ts";

const RESOURCES = ["cpu", "memory"] as const;
const SHOWN_WIDTH = 14;
const NOTHING = { cpu: "0", memory: "0" };

/** The account of a cluster at the broker. */
export interface ClusterAccount {
  readonly allocatable: ResourceVector;
  readonly allocated: ResourceVector;
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
}

export function accountOf({ clusterID, resources }: AdvertisementDTO): ClusterAccount {
  const read = (quantities: AdvertisementDTO["resources"]["available"] | undefined): ResourceVector => {
    const parsed = parseResources(quantities ?? NOTHING, "down");
    check(parsed.ok, `the books of ${clusterID} cannot be read: ${JSON.stringify(resources)}`);
    return parsed.resources;
  };
  return {
    allocatable: read(resources.allocatable),
    allocated: read(resources.allocated),
    reserved: read(resources.reserved),
    available: read(resources.available),
  };
}

/** Available = Allocatable − Allocated − Reserved, to the last byte. */
export function addsUp({ allocatable, allocated, reserved, available }: ClusterAccount): boolean {
  return RESOURCES.every(
    (name) =>
      amountOf(available, name) ===
      amountOf(allocatable, name) - amountOf(allocated, name) - amountOf(reserved, name),
  );
}

/** The same as a sum that a person can follow. */
export function accountRows(balance: ClusterAccount): Line[] {
  const row = (name: (typeof RESOURCES)[number]): Line => {
    const amount = (part: keyof ClusterAccount): string =>
      shown(name, amountOf(balance[part], name)).padEnd(SHOWN_WIDTH);
    return line(
      span(amount("available"), "good"),
      `= ${amount("allocatable")}- ${amount("allocated")}- `,
      span(amount("reserved"), "careful"),
    );
  };
  const title = (text: string): string => text.padEnd(SHOWN_WIDTH);
  const heading = `${title("AVAILABLE")}= ${title("ALLOCATABLE")}- ${title("ALLOCATED")}- ${title("RESERVED")}`;
  return [line(span(heading, "quiet")), ...RESOURCES.map(row)];
}

function shown(name: (typeof RESOURCES)[number], amount: number): string {
  return amount === 0 ? "0" : describeAmount(name, amount);
}
