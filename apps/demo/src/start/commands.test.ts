import { expect, test } from "vitest";
import { commandsFor } from "./commands.ts";

const placesIn = (folder: string) => ({
  kubeconfigOf: (cluster: string) => `${folder}/${cluster}/kubeconfig`,
  requestFile: `${folder}/request.yaml`,
});

test("there are five commands, for the cluster that asks and the one that lends", () => {
  const commands = commandsFor(placesIn("/tmp/demo")).map(({ command }) => command);
  expect(commands).toHaveLength(5);
  expect(commands[0]).toBe("kubectl --kubeconfig /tmp/demo/rome/kubeconfig apply -f /tmp/demo/request.yaml");
  expect(commands[3]).toBe("kubectl --kubeconfig /tmp/demo/paris/kubeconfig get providerinstructions");
});

test("a folder that a shell would take apart is quoted", () => {
  const [first] = commandsFor(placesIn("/tmp/my friend's $HOME"));
  expect(first?.command).toContain(String.raw`apply -f '/tmp/my friend'\''s $HOME/request.yaml'`);
});
