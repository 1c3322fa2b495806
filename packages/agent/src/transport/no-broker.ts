import { Fault } from "@resource-broker/base";
import type { BrokerTransport } from "./broker-communicator.ts";

/** The message where `--broker-transport=none`. */
export const NO_BROKER = "no broker is configured (--broker-transport=none)";

/** The client without a broker: an advertisement is returned unchanged, every other call is unsupported. */
export function noBroker(): BrokerTransport {
  const absent = (): Promise<never> => Promise.reject(new Fault("unsupported", NO_BROKER));
  return {
    identity: () => undefined,
    publish: (advertisement) => Promise.resolve({ advertisement }),
    reserve: absent,
    reserveOrWait: absent,
    listReservations: absent,
    getReservation: absent,
    getWaiting: absent,
    listWaiting: absent,
    listInstructions: absent,
    watch: () => {
      throw new Fault("unsupported", NO_BROKER);
    },
    activate: absent,
    release: absent,
    releaseByKey: absent,
    acknowledge: absent,
    refuse: absent,
    adopt: absent,
    putStatement: absent,
    listStatements: absent,
    ping: absent,
    onResponse: () => () => undefined,
    close: () => Promise.resolve(),
  };
}
