import { condition, HELD, NAMESPACE, RESERVATIONS, SHOWN } from "./access-objects.ts";
import { type AccessRow, patchesStatus, signals } from "./agent-acts.ts";

const ONLY_CONDITIONS = "may write only conditions of a Reservation: the rest of its status is the broker's";
const OWN_CONDITIONS = "may write only its own conditions here: ";

const holding = (reason: string) => ({
  ...condition("ProviderHolding", "False"),
  reason,
  message: "no room",
});

export const SIGNALLING_ROWS: readonly AccessRow[] = [
  {
    name: "says that it uses what it borrows",
    by: "rome",
    does: signals(HELD, condition("RequesterActive")),
  },
  {
    name: "says that it is done, with the whole list of conditions",
    by: "rome",
    does: patchesStatus(HELD, {
      conditions: [...(HELD.status?.conditions ?? []), condition("RequesterReleased")],
    }),
  },
  {
    name: "says that it is done, with the whole object",
    by: "rome",
    does: async (agent) => {
      const object = await agent.get(RESERVATIONS, { name: HELD.metadata.name, namespace: NAMESPACE });
      const conditions = [...(object.status?.conditions ?? []), condition("RequesterReleased")];
      return agent.update(
        RESERVATIONS,
        { ...object, status: { ...object.status, conditions } },
        { subresource: "status" },
      );
    },
  },
  {
    name: "says that it holds what it lends",
    by: "paris",
    does: signals(HELD, condition("ProviderHolding")),
  },
  { name: "says that it cannot hold it", by: "paris", does: signals(HELD, holding("Refused")) },
  {
    name: "signals on what the broker shows",
    by: "paris",
    does: signals(SHOWN, condition("RequesterActive")),
  },
  {
    name: "says as requester that the provider holds it",
    by: "rome",
    does: signals(HELD, condition("ProviderHolding")),
    refusal: `${OWN_CONDITIONS}RequesterActive, RequesterReleased`,
  },
  {
    name: "says as provider that the requester is done",
    by: "paris",
    does: signals(HELD, condition("RequesterReleased")),
    refusal: `${OWN_CONDITIONS}ProviderHolding`,
  },
  {
    name: "speaks about what is between two others",
    by: "oslo",
    does: signals(HELD, condition("RequesterReleased")),
    refusal: "is no party of this Reservation: it may not write its status",
  },
  {
    name: "changes a condition of the broker's",
    by: "rome",
    does: signals(HELD, condition("Reserved", "False")),
    refusal: OWN_CONDITIONS,
  },
  {
    name: "removes the conditions of the broker",
    by: "rome",
    does: patchesStatus(HELD, { conditions: [condition("RequesterActive")] }),
    refusal: OWN_CONDITIONS,
  },
  {
    name: "writes the phase",
    by: "rome",
    does: patchesStatus(HELD, { phase: "Active" }),
    refusal: ONLY_CONDITIONS,
  },
  {
    name: "adds a field to the status",
    by: "rome",
    does: patchesStatus(HELD, { expiresAt: "2036-07-01T10:00:00Z" }),
    refusal: ONLY_CONDITIONS,
  },
  {
    name: "removes a field of the status",
    by: "paris",
    does: patchesStatus(HELD, { message: null }),
    refusal: ONLY_CONDITIONS,
  },
  {
    name: "removes the whole status",
    by: "rome",
    does: patchesStatus(HELD, { phase: null, message: null, generation: null, conditions: null }),
    refusal: ONLY_CONDITIONS,
  },
];
