import { forRequester, type TypedCall } from "@resource-broker/client";
import { checkClusterId } from "../cli/cluster-id.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Broker } from "../connection/broker.ts";

/** The cluster that something is asked for, where that is not the one whose certificate is used. */
export function requesterFor(
  named: string | undefined,
  { credentials }: Pick<Broker, "credentials">,
): string | undefined {
  const { name, isAdmin } = credentials;
  if (named !== undefined) checkClusterId(named);
  if (named === undefined && isAdmin) {
    throw new CommandError(
      "usage",
      `${name} is an admin and no cluster: say which cluster it is for, for example --for rome`,
    );
  }
  if (named !== undefined && named !== name && !isAdmin) {
    throw new CommandError("auth", `${name} may not ask for ${named}: use its certificate, or an admin's`);
  }
  return named;
}

/** The call with the requester, if it has to be named. */
export function asRequester<T>(call: TypedCall<T>, requester: string | undefined): TypedCall<T> {
  return requester === undefined ? call : forRequester(call, requester);
}
