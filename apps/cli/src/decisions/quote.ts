import { quoteCall } from "@resource-broker/client";
import type { QuoteDTO } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import { stylerFor } from "../output/colour.ts";
import { costText } from "../output/price.ts";
import { print } from "../output/print.ts";
import type { QUOTE_OPTIONS } from "../reservations/options.ts";
import { readRequest } from "../reservations/read-request.ts";
import { asRequester, requesterFor } from "../reservations/requester.ts";
import { decisionText } from "./print-decision.ts";

export const quote: Run<typeof QUOTE_OPTIONS> = async ({ options }, host) => {
  const body = readRequest(options);
  const styled = stylerFor(host);
  await withBroker(options, host, async (broker) => {
    // A quote reserves nothing: without --for, the requester is the owner of the certificate.
    const requester = options.for === undefined ? undefined : requesterFor(options.for, broker);
    const { value } = await broker.request(asRequester(quoteCall(body), requester));
    const text = (isWide: boolean): string =>
      `${decisionText(value.decision, { styled, isWide })}${priceText(value)}`;
    const names = value.targetClusterID === undefined ? [] : [value.targetClusterID];
    print(
      { data: value, table: () => text(false), wide: () => text(true), names: () => names },
      options.output,
      host,
    );
    if (!value.fits) throw new CommandError("unsatisfiable", "no cluster can lend that now");
  });
};

function priceText({ fits, cost }: QuoteDTO): string {
  return fits
    ? `
Price: ${costText(cost)}. Nothing is reserved.
`
    : "";
}
