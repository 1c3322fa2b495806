import { PATH, type ReservationDTO } from "@resource-broker/contract";
import {
  apiVersionOf,
  customResourceDefinition,
  KUBE_LABEL,
  reservationKind,
} from "@resource-broker/contract/crd";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, type Resource } from "@resource-broker/kube";
import { RESERVATIONS, startWorld, until, type World } from "@resource-broker/testkit";
import { beforeAll, expect, test } from "vitest";

const NAMESPACE = "market";
const DEFINITION = `${reservationKind.plural}.${reservationKind.group}`;
const namespaceObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };

let world: World;
beforeAll(async () => {
  world = await startWorld({
    clusters: [{ name: "paris", nodes: [{ cpu: "16", memory: "64Gi" }] }],
    hub: "hub",
    brokerFlags: [`--http-namespace=${NAMESPACE}`],
  });
  await client().create(NAMESPACES, namespaceObject);
  const body = { requestedResources: { cpu: "1", memory: "1Gi" } };
  await until("paris lends", async () => {
    const { status } = await world.broker.clientFor("oslo").request("POST", PATH.reservations, { body });
    return status === 201 ? true : undefined;
  });
  await ask("by-a-person");
  await until("both are in the ledger", async () => ((await live()).length === 2 ? true : undefined));
  return world.dispose;
});

const client = () => world.cluster("hub").client;

async function ask(name: string): Promise<void> {
  await client().create(RESERVATIONS, {
    apiVersion: apiVersionOf(reservationKind),
    kind: "Reservation",
    metadata: { name, namespace: NAMESPACE },
    spec: { requesterID: "rome", requestedResources: { cpu: "2", memory: "2Gi" } },
  });
}

async function live(): Promise<string[]> {
  const { body } = await world.broker.admin().request("GET", PATH.reservations);
  const all = body as ReservationDTO[];
  return all.filter(({ status }) => status.phase === "Reserved").map(({ id }) => id);
}

async function shown(): Promise<string[]> {
  const ids: string[] = [];
  await client().list(RESERVATIONS, { namespace: NAMESPACE }, ({ metadata, status }) => {
    if (metadata.labels?.[KUBE_LABEL.view] === "true" && status?.phase === "Reserved")
      ids.push(metadata.name);
  });
  return ids;
}

const untilGone = (resource: Resource<unknown>, name: string): Promise<unknown> =>
  until(`${resource.kind} ${name} is gone`, async () =>
    (await client().find(resource, { name })) === undefined ? true : undefined,
  );

test.each([
  {
    lost: "the namespace",
    lose: async () => {
      await client().delete(NAMESPACES, { name: NAMESPACE });
      await untilGone(NAMESPACES, NAMESPACE);
    },
    bringBack: () => client().create(NAMESPACES, namespaceObject),
  },
  {
    lost: "the definition of Reservations",
    lose: async () => {
      await client().delete(CUSTOM_RESOURCE_DEFINITIONS, { name: DEFINITION });
      await untilGone(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION);
    },
    bringBack: () =>
      client().create(
        CUSTOM_RESOURCE_DEFINITIONS,
        JSON.parse(JSON.stringify(customResourceDefinition(reservationKind))),
      ),
  },
])(
  "deleting $lost under a broker with a store of its own frees nothing, and what was shown comes back",
  async (row) => {
    const before = await live();
    expect(before).toHaveLength(2);
    await row.lose();
    expect(await live()).toEqual(before);
    await row.bringBack();
    await until("everything is shown again", async () => {
      const now = await shown();
      return before.every((id) => now.includes(id)) ? true : undefined;
    });
    expect(await live()).toEqual(before);
  },
);
