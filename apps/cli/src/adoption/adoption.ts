import { parseDuration } from "@resource-broker/base";
import {
  adoptionWindowCall,
  closeAdoptionCall,
  openAdoptionCall,
  type TypedCall,
} from "@resource-broker/client";
import type { AdoptionWindowDTO } from "@resource-broker/contract";
import type { Host, Run, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { ConnectionOptions } from "../connection/find-broker.ts";
import type { BROKER_OPTIONS, OPEN_ADOPTION_OPTIONS } from "../commands/broker-options.ts";
import { properties } from "../output/print.ts";

export const showAdoption: Run<typeof BROKER_OPTIONS> = ({ options }, host) =>
  ask(adoptionWindowCall(), options, host);

export const openAdoption: Run<typeof OPEN_ADOPTION_OPTIONS> = async ({ options }, host) => {
  const parsed = parseDuration(options.for);
  if (!parsed.ok) throw new CommandError("usage", `--for: ${parsed.problem}`);
  return ask(openAdoptionCall(options.for), options, host);
};

export const closeAdoption: Run<typeof BROKER_OPTIONS> = ({ options }, host) =>
  ask(closeAdoptionCall(), options, host);

function ask(call: TypedCall<AdoptionWindowDTO>, options: ConnectionOptions, host: Host): Promise<View> {
  return withBroker(options, host, async (broker) => {
    const { value } = await broker.request(call);
    const { open, since, until, cause, by } = value;
    const state = open ? "open" : "closed";
    const table = (): string =>
      properties([
        ["Adoption", state],
        ["Reservations made before", since],
        ["Until", until],
        ["Cause", cause === undefined || by === undefined ? cause : `${cause} by ${by}`],
      ]);
    return { data: value, table, names: [state] };
  });
}
