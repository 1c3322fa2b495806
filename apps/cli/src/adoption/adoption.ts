import { parseDuration } from "@resource-broker/base";
import {
  adoptionWindowCall,
  closeAdoptionCall,
  openAdoptionCall,
  type TypedCall,
} from "@resource-broker/client";
import type { AdoptionWindowDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { withBroker } from "../connection/broker.ts";
import type { OutputFormat } from "../output/output-option.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import type { ADOPTION_OPTIONS, OPEN_ADOPTION_OPTIONS } from "./options.ts";

type Connection = Parameters<typeof withBroker>[0] & { readonly output: OutputFormat };

export const showAdoption: Run<typeof ADOPTION_OPTIONS> = ({ options }, host) =>
  ask(adoptionWindowCall(), options, host);

export const openAdoption: Run<typeof OPEN_ADOPTION_OPTIONS> = async ({ options }, host) => {
  const parsed = parseDuration(options.for);
  if (!parsed.ok) throw new CommandError("usage", `--for: ${parsed.problem}`);
  await ask(openAdoptionCall(options.for), options, host);
};

export const closeAdoption: Run<typeof ADOPTION_OPTIONS> = ({ options }, host) =>
  ask(closeAdoptionCall(), options, host);

async function ask(call: TypedCall<AdoptionWindowDTO>, options: Connection, host: Host): Promise<void> {
  await withBroker(options, host, async (broker) => {
    const { value } = await broker.request(call);
    const { open, since, until, cause, by } = value;
    const table = (): string =>
      properties([
        ["Adoption", open ? "open" : "closed"],
        ...(since === undefined ? [] : [["Reservations made before", since] as const]),
        ...(until === undefined ? [] : [["Until", until] as const]),
        ...(cause === undefined ? [] : [["Cause", by === undefined ? cause : `${cause} by ${by}`] as const]),
      ]);
    print({ data: value, table, names: () => [open ? "open" : "closed"] }, options.output, host);
  });
}
