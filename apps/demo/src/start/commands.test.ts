import { expect, test } from "vitest";
import { commandsFor } from "./commands.ts";

const placesIn = (folder: string) => ({
  kubeconfigOf: (cluster: string) => `${folder}/${cluster}/kubeconfig`,
  requestFile: `${folder}/request.yaml`,
  brokerctl: `${folder}/brokerctl`,
  requester: "rome",
  provider: "paris",
  hasGpus: true,
  hub: undefined,
});
const commandsIn = (places: Parameters<typeof commandsFor>[0]) =>
  commandsFor(places).map(({ command }) => command);

test("there are five commands, for the cluster that asks, the one that lends and the broker", () => {
  expect(commandsIn(placesIn("/tmp/demo"))).toEqual([
    "kubectl --kubeconfig /tmp/demo/rome/kubeconfig apply -f /tmp/demo/request.yaml",
    "kubectl --kubeconfig /tmp/demo/rome/kubeconfig get resourcerequests,reservationinstructions",
    "kubectl --kubeconfig /tmp/demo/paris/kubeconfig get providerinstructions",
    "/tmp/demo/brokerctl quote --context rome --cpu 2 --memory 8Gi --gpu 1",
    "kubectl --kubeconfig /tmp/demo/rome/kubeconfig delete resourcerequest more-room",
  ]);
});

test("where nobody knows who will lend, the broker is asked; where nobody has a GPU, none is wanted", () => {
  const commands = commandsIn({ ...placesIn("/tmp/demo"), provider: undefined, hasGpus: false });
  expect(commands[2]).toBe("/tmp/demo/brokerctl get reservations");
  expect(commands[3]).toBe("/tmp/demo/brokerctl quote --context rome --cpu 2 --memory 8Gi");
});

test("a broker with a cluster of its own is looked at there", () => {
  const commands = commandsIn({ ...placesIn("/tmp/demo"), hub: "hub" });
  expect(commands[2]).toBe(
    "kubectl --kubeconfig /tmp/demo/hub/kubeconfig get clusteradvertisements,reservations",
  );
});

test("a folder that a shell would take apart is quoted", () => {
  const [first = "", , , quote] = commandsIn(placesIn("/tmp/my friend's $HOME"));
  expect(first).toContain(String.raw`apply -f '/tmp/my friend'\''s $HOME/request.yaml'`);
  expect(quote).toContain(String.raw`'/tmp/my friend'\''s $HOME/brokerctl' quote`);
});
