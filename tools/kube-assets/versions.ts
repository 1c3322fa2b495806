import { PROGRAMS, type ProgramName } from "./recipe.ts";

/** The oldest API server our tests are written for. */
const OLDEST = { major: 1, minor: 34 };

/** How each program is asked for its version. */
export const VERSION_FLAGS: Readonly<Record<ProgramName, readonly string[]>> = {
  etcd: ["--version"],
  "kube-apiserver": ["--version"],
  "kube-controller-manager": ["--version"],
  kubectl: ["version", "--client"],
};

interface Version {
  readonly text: string;
  readonly major: number;
  readonly minor: number;
}

/** What the programs say of themselves, in one line; throws where they do not fit each other or are too old. */
export function describeVersions(output: ReadonlyMap<ProgramName, string>): string {
  const versionOf = (name: ProgramName): Version => versionIn(name, output.get(name) ?? "");
  const server = versionOf("kube-apiserver");
  if (server.major !== OLDEST.major || server.minor < OLDEST.minor)
    throw new Error(
      `kube-apiserver is ${server.text}; the tests need ${OLDEST.major}.${OLDEST.minor} or newer.`,
    );
  const list = PROGRAMS.map((name) => `${name} ${versionOf(name).text}`).join(", ");
  const others = [versionOf("kubectl"), versionOf("kube-controller-manager")];
  if (others.some(({ minor }) => minor !== server.minor))
    throw new Error(`these programs are not of one release: ${list}.`);
  return list;
}

function versionIn(name: ProgramName, output: string): Version {
  const [text, major, minor] = /(\d+)\.(\d+)\.\d+\S*/.exec(output) ?? [];
  if (text === undefined) throw new Error(`${name} does not say its version but: ${output.trim()}`);
  return { text, major: Number(major), minor: Number(minor) };
}
